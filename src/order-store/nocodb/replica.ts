import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { formatOrderNumber } from '../sqlite/order-numbers.js'
import { createOrderWriter, type ReplicatedOrder } from '../sqlite/order-records.js'
import { openStoreCalendar } from '../sqlite/settings.js'
import type { Order } from '../../orders/order.js'
import type { ColumnTitles } from './columns.js'
import { createReplicaSettings, type ReplicaSetting } from './replica-settings.js'
import { parseRow, type CellError, type Row, type ParsedRow } from './parse-row.js'

/** Beside the book: what is known of the rows it is a copy of. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS replica_rows (
    id INTEGER PRIMARY KEY,
    stamp TEXT NOT NULL,   -- changes with most edits, and is quick to read
    digest TEXT NOT NULL,  -- changes with every edit
    fault TEXT,            -- why the row is no order; NULL where it is one
    edited INTEGER NOT NULL DEFAULT 0 -- 1 where an edit made in NocoDB is no version yet
  ) STRICT;
  CREATE INDEX IF NOT EXISTS replica_edits ON replica_rows (id) WHERE edited = 1;
  CREATE INDEX IF NOT EXISTS replica_faults ON replica_rows (id) WHERE fault IS NOT NULL;`

/** What a row of NocoDB has that an order cannot. */
export interface RowError {
  id: number
  faults: CellError[]
  /** Whether the row is left out, or shown without those cells */
  isLeftOut: boolean
}

const digestOf = (row: Row): string =>
  createHash('sha1').update(JSON.stringify(row)).digest('base64url')

/** How long it is remembered when a row was asked for: longer than any answer takes, ms. */
const REMEMBERED_MS = 120_000

/** An order book that is a copy of a table in NocoDB. */
export function openReplica(db: Database, titles: ColumnTitles) {
  db.exec(TABLES)
  const records = createOrderWriter(db, openStoreCalendar(db))
  const settings = createReplicaSettings(db)
  const known = db.prepare<[number], { stamp: string; digest: string; fault: string | null }>(
    'SELECT stamp, digest, fault FROM replica_rows WHERE id = ?',
  )
  const know = db.prepare<[number, string, string, string | null, number]>(
    'INSERT OR REPLACE INTO replica_rows VALUES (?, ?, ?, ?, ?)',
  )
  const edited = db
    .prepare<[], number>('SELECT id FROM replica_rows WHERE edited = 1 ORDER BY id LIMIT 10')
    .pluck()
  const forget = db.prepare<[number]>('DELETE FROM replica_rows WHERE id = ?')
  const stamps = db.prepare<[number, number], { id: number; stamp: string }>(
    'SELECT id, stamp FROM replica_rows WHERE id > ? AND id <= ? ORDER BY id',
  )
  const countRows = db
    .prepare<[number, number], number>('SELECT count(*) FROM replica_rows WHERE id > ? AND id <= ?')
    .pluck()
  const nthId = db
    .prepare<[number, number], number>(
      'SELECT id FROM replica_rows WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?',
    )
    .pluck()
  const lastId = db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM replica_rows').pluck()
  const leftOut = db.prepare<[], { id: number; fault: string }>(
    'SELECT id, fault FROM replica_rows WHERE fault IS NOT NULL ORDER BY id LIMIT 10',
  )
  const countLeftOut = db
    .prepare<[], number>('SELECT count(*) FROM replica_rows WHERE fault IS NOT NULL')
    .pluck()
  const ownerOfNumber = db
    .prepare<[string, number], number>('SELECT id FROM orders WHERE order_number = ? AND id <> ?')
    .pluck()
  const ownerOfKey = db
    .prepare<[string], number>('SELECT order_id FROM idempotency_keys WHERE key = ?')
    .pluck()
  const keepKey = db.prepare<[string, string, number, number]>(
    'INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?, ?, ?)',
  )
  const dropKeys = db.prepare<[number]>('DELETE FROM idempotency_keys WHERE order_id = ?')
  /** When what is known of a row was asked for. Answers may overtake each other. */
  const asked = new Map<number, number>()
  const isOutdated = (id: number, askedAt: number): boolean =>
    (asked.get(id) ?? -Infinity) > askedAt

  const stampOf = (row: Row): string =>
    [row.UpdatedAt, row[titles.version], row[titles.writeToken]]
      .map((part) => JSON.stringify(part ?? ''))
      .join(' ')

  /** Copies that are on their way into the book. */
  const pending = new Map<string, ReplicatedOrder>()
  function flush(): void {
    records.addReplicated([...pending.values()])
    pending.clear()
  }

  /** The number of an order: its own, or one of its id; with the id behind where another has it. */
  function numberOf(id: number, own: string | null): string {
    const number = own ?? formatOrderNumber(id)
    const isTaken = pending.has(number) || ownerOfNumber.get(number, id) !== undefined
    return isTaken ? `${number}-${id}` : number
  }

  function takeOut(id: number): void {
    records.remove(id)
    dropKeys.run(id)
  }

  function withNumber({ order, by, history }: ParsedRow): ReplicatedOrder {
    const orderNumber = numberOf(Number(order.id), order.orderNumber)
    return { order: { ...order, orderNumber }, by, history }
  }

  /** Two rows with one key are one order, entered twice while NocoDB did not answer: the first holds. */
  function repeats(row: Row): CellError | null {
    const key = row[titles.idempotencyKey]
    if (typeof key !== 'string' || key === '') return null
    const owner = ownerOfKey.get(key)
    if (owner === undefined || owner === row.Id) return null
    if (owner < row.Id) {
      return { column: titles.idempotencyKey, fault: `repeats row ${owner}` }
    }
    const later = known.get(owner)
    flush()
    takeOut(owner)
    if (later) {
      know.run(
        owner,
        later.stamp,
        later.digest,
        `${titles.idempotencyKey} repeats row ${row.Id}`,
        0,
      )
    }
    return null
  }

  function keepKeyOf(row: Row, { request, order }: ParsedRow): void {
    const key = row[titles.idempotencyKey]
    if (typeof key !== 'string' || key === '' || request === null) return
    keepKey.run(key, request, row.Id, Date.parse(order.createdAt))
  }

  /** Takes in rows; tells of those that have faults. Within the caller's transaction. */
  function takeIn(rows: Row[], askedAt: number): RowError[] {
    const faults: RowError[] = []
    pending.clear()
    for (const row of rows) {
      const { Id: id } = row
      if (isOutdated(id, askedAt)) continue
      asked.set(id, askedAt)
      const digest = digestOf(row)
      const before = known.get(id)
      if (before?.digest === digest) continue
      if (before !== undefined) takeOut(id)
      const reading = parseRow(row, titles)
      const repeat = reading.ok ? repeats(row) : null
      const cells = repeat ? [repeat] : reading.ok ? reading.found.faults : reading.faults
      const isLeftOut = !reading.ok || repeat !== null
      if (cells.length > 0) faults.push({ id, faults: cells, isLeftOut })
      const fault = cells.map(({ column, fault: what }) => `${column} ${what}`).join(', ')
      const isEdited = reading.ok && !isLeftOut && reading.found.isEdited
      know.run(id, stampOf(row), digest, isLeftOut ? fault : null, isEdited ? 1 : 0)
      if (!reading.ok || repeat !== null) continue
      const copy = withNumber(reading.found)
      pending.set(copy.order.orderNumber, copy)
      keepKeyOf(row, reading.found)
    }
    flush()
    return faults
  }

  const write = <T>(work: () => T): T => db.transaction(work).immediate()

  return {
    setting: settings.get,
    set: settings.set,
    /** Takes in rows as they were when they were asked for, and settings with them. */
    takeIn: (
      { rows, askedAt }: { rows: Row[]; askedAt: number },
      also: Partial<Record<ReplicaSetting, string>> = {},
    ): RowError[] =>
      write(() => {
        for (const [name, value] of Object.entries(also))
          settings.set(name as ReplicaSetting, value)
        return takeIn(rows, askedAt)
      }),
    /** Takes out rows that were gone when they were asked for; tells how many. */
    takeOut: (ids: number[], askedAt: number): number =>
      write(() => {
        const gone = ids.filter((id) => !isOutdated(id, askedAt))
        for (const id of gone) {
          asked.set(id, askedAt)
          takeOut(id)
          forget.run(id)
        }
        return gone.length
      }),
    /** The order of a row, by the number it is shown with. */
    orderOf: (found: ParsedRow): Order => withNumber(found).order,
    /** An order as it is in the copy. */
    get: (id: number): Order | null => records.get(id),
    numberOf,
    stampOf,
    /** Rows known with ids above one and up to another. */
    count: (after = 0, upTo: number = Number.MAX_SAFE_INTEGER): number =>
      countRows.get(after, upTo) ?? 0,
    stamps: (after: number, upTo: number) => stamps.all(after, upTo),
    /** The id that stands so many known ids further on than the first one above `after`. */
    idAfter: (after: number, skipped: number): number | null => nthId.get(after, skipped) ?? null,
    lastId: (): number => lastId.get() ?? 0,
    /** Rows that are no orders: how many, and the first few. */
    leftOut: () => ({ count: countLeftOut.get() ?? 0, first: leftOut.all() }),
    /** The first few orders that have an edit made in NocoDB, which is no version yet. */
    edited: (): number[] => edited.all(),
    /** Forgets when rows were asked for that no answer is under way of any more. */
    tidyUp(): void {
      const limit = performance.now() - REMEMBERED_MS
      for (const [id, askedAt] of asked) if (askedAt < limit) asked.delete(id)
    },
  }
}

export type Replica = ReturnType<typeof openReplica>
