import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { formatOrderNumber } from '../orders/order-number.js'
import { DIALECTS } from '../orders/store/dialect.js'
import { addEvent, eraseEvents } from '../orders/store/order-events.js'
import { addMany, readOrder, remove, type RecordedOrder } from '../orders/store/order-records.js'
import { addTotals, TotalsSum } from '../orders/store/totals.js'
import { listVersions } from '../orders/order-versions.js'
import { ERASURE_FIELD, isErased } from '../orders/erasure.js'
import type { Order } from '../orders/order.js'
import { createDayCalendar } from '../core/formatting/day-calendar.js'
import { createRunner, createSequence } from '../database/sqlite-runner.js'
import type { ColumnTitles, Row } from './columns.js'
import { REQUIRE_REWRITE } from '../database/rewrite-file.js'
import { parseRow, type CellError, type ParsedRow } from './parse-row.js'
import { createReplicaSettings, type ReplicaSetting } from './replica-file.js'

const TABLES = `
  CREATE TABLE IF NOT EXISTS replica_rows (
    id INTEGER PRIMARY KEY,
    stamp TEXT NOT NULL,   -- changes with most edits, quick to read
    digest TEXT NOT NULL,  -- changes with every edit
    fault TEXT,            -- why the row is skipped; NULL if it is an order
    edited INTEGER NOT NULL DEFAULT 0 -- 1 if an edit made in NocoDB is not recorded yet
  ) STRICT;
  CREATE INDEX IF NOT EXISTS replica_edits ON replica_rows (id) WHERE edited = 1;
  CREATE INDEX IF NOT EXISTS replica_faults ON replica_rows (id) WHERE fault IS NOT NULL;`

/** A row with invalid cells. */
export interface RowError {
  id: number
  errors: CellError[]
  /** Whether the row is skipped; otherwise, it is shown without the invalid cells */
  isSkipped: boolean
}

export const formatCellErrors = (errors: CellError[]): string =>
  errors.map(({ column, error }) => `${column} ${error}`).join(', ')

const hashRow = (row: Row): string =>
  createHash('sha1').update(JSON.stringify(row)).digest('base64url')

/** Whether personal data was erased from an order after a version. */
const isNewlyErased = ({ history }: ParsedRow, version: number): boolean =>
  history.some(
    (entry) =>
      entry.version > version && entry.changes.some(({ field }) => field === ERASURE_FIELD),
  )

/** Longer than any request can take, ms. */
const REQUEST_TIMES_TTL_MS = 120_000

/** Opens an order database that replicates a table in NocoDB. */
export function openReplica(db: Database, titles: ColumnTitles) {
  db.exec(TABLES)
  const tx = createRunner(db)
  const inSequence = createSequence()
  const selectTimeZone = db
    .prepare<[], string>("SELECT value FROM settings WHERE name = 'time_zone'")
    .pluck()
  const calendar = createDayCalendar(selectTimeZone.get() ?? 'UTC')
  /** Of the current transaction */
  let totals = new TotalsSum(calendar)
  const settings = createReplicaSettings(db)
  const selectDigest = db
    .prepare<[number], string>('SELECT digest FROM replica_rows WHERE id = ?')
    .pluck()
  const saveRow = db.prepare<[number, string, string, string | null, number]>(
    'INSERT OR REPLACE INTO replica_rows VALUES (?, ?, ?, ?, ?)',
  )
  const skipRow = db.prepare<[string, number]>(
    'UPDATE replica_rows SET fault = ?, edited = 0 WHERE id = ?',
  )
  const deleteRow = db.prepare<[number]>('DELETE FROM replica_rows WHERE id = ?')
  const selectEdited = db
    .prepare<[], number>('SELECT id FROM replica_rows WHERE edited = 1 ORDER BY id LIMIT 10')
    .pluck()
  const selectStamps = db.prepare<[number, number], { id: number; stamp: string }>(
    'SELECT id, stamp FROM replica_rows WHERE id > ? AND id <= ? ORDER BY id',
  )
  const countRows = db
    .prepare<[number, number], number>('SELECT count(*) FROM replica_rows WHERE id > ? AND id <= ?')
    .pluck()
  const selectNthId = db
    .prepare<[number, number], number>(
      'SELECT id FROM replica_rows WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?',
    )
    .pluck()
  const selectLastId = db
    .prepare<[], number>('SELECT coalesce(max(id), 0) FROM replica_rows')
    .pluck()
  const selectSkipped = db.prepare<[], { id: number; fault: string }>(
    'SELECT id, fault FROM replica_rows WHERE fault IS NOT NULL ORDER BY id LIMIT 10',
  )
  const countSkipped = db
    .prepare<[], number>('SELECT count(*) FROM replica_rows WHERE fault IS NOT NULL')
    .pluck()
  const selectIdByNumber = db
    .prepare<[string, number], number>('SELECT id FROM orders WHERE order_number = ? AND id <> ?')
    .pluck()
  const selectIdByKey = db
    .prepare<[string], number>('SELECT order_id FROM idempotency_keys WHERE key = ?')
    .pluck()
  const saveKey = db.prepare<[string, string, number, number]>(
    'INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?, ?, ?)',
  )
  const requireRewrite = db.prepare(REQUIRE_REWRITE)
  const deleteKeys = db.prepare<[number]>('DELETE FROM idempotency_keys WHERE order_id = ?')

  /** When the latest state of each row was requested. Responses may arrive out of order. */
  const requestTimes = new Map<number, number>()
  function isNewer(id: number, requestedAt: number): boolean {
    if ((requestTimes.get(id) ?? -Infinity) > requestedAt) return false
    requestTimes.set(id, requestedAt)
    return true
  }

  const getStamp = (row: Row): string =>
    [row.UpdatedAt, row[titles.version], row[titles.writeToken]]
      .map((part) => JSON.stringify(part ?? ''))
      .join(' ')

  /** The first load reads existing orders, not changes, so it records no events. */
  let hasEvents = false

  /** Orders to insert with the next flush, by order number. */
  const pending = new Map<string, RecordedOrder>()
  async function flush(): Promise<void> {
    await addMany(tx, DIALECTS.sqlite, [...pending.values()], totals)
    pending.clear()
  }

  /** The order number, with the id appended if another order has the same number. */
  function getUniqueNumber(id: number, orderNumber: string | null): string {
    const number = orderNumber ?? formatOrderNumber(id)
    const isTaken = pending.has(number) || selectIdByNumber.get(number, id) !== undefined
    return isTaken ? `${number}-${id}` : number
  }

  async function deleteOrder(id: number): Promise<void> {
    await remove(tx, DIALECTS.sqlite, id, totals)
    deleteKeys.run(id)
  }

  const toOrder = ({ order }: ParsedRow): Order => ({
    ...order,
    orderNumber: getUniqueNumber(Number(order.id), order.orderNumber),
  })

  const getKey = (row: Row): string | null => {
    const key = row[titles.idempotencyKey]
    return typeof key === 'string' && key !== '' ? key : null
  }

  /**
   * If another row has the same idempotency key, skips the row with the higher id. Returns the
   * error if `row` is skipped.
   */
  async function findDuplicateKey(row: Row): Promise<CellError | null> {
    const key = getKey(row)
    const other = key === null ? undefined : selectIdByKey.get(key)
    if (other === undefined || other === row.Id) return null
    const column = titles.idempotencyKey
    if (other < row.Id) return { column, error: `duplicates row ${other}` }
    await flush()
    await deleteOrder(other)
    skipRow.run(`${column} duplicates row ${row.Id}`, other)
    return null
  }

  async function upsertRow(row: Row): Promise<RowError | null> {
    const { Id: id } = row
    const digest = hashRow(row)
    const before = selectDigest.get(id)
    if (before === digest) return null
    const previous = before === undefined ? null : await readOrder(tx, id)
    if (before !== undefined) await deleteOrder(id)
    const result = parseRow(row, titles)
    const duplicate = result.ok ? await findDuplicateKey(row) : null
    if (!result.ok || duplicate !== null) {
      const errors = result.ok ? [] : result.errors
      if (duplicate !== null) errors.push(duplicate)
      saveRow.run(id, getStamp(row), digest, formatCellErrors(errors), 0)
      return { id, errors, isSkipped: true }
    }
    const { parsed } = result
    saveRow.run(id, getStamp(row), digest, null, parsed.isEdited ? 1 : 0)
    const order = toOrder(parsed)
    pending.set(order.orderNumber, { order, by: parsed.by, history: parsed.history })
    if (hasEvents && (previous?.version ?? 0) < order.version) {
      // One event per version, as in the process that wrote the versions, so that messages about
      // the same version have the same ID in both processes.
      let before = previous
      for (const version of listVersions(order, parsed.history, previous?.version ?? 0)) {
        await addEvent(tx, before, version)
        before = version
      }
    }
    if (isErased(order)) await eraseEvents(tx, order.id)
    if (previous !== null && isNewlyErased(parsed, previous.version)) requireRewrite.run()
    const key = getKey(row)
    if (key !== null && parsed.request !== null) {
      saveKey.run(key, parsed.request, id, Date.parse(order.createdAt))
    }
    return parsed.errors.length > 0 ? { id, errors: parsed.errors, isSkipped: false } : null
  }

  /** Runs a transaction; the transactions of syncs and writes follow one another. */
  const inTransaction = <T>(work: () => Promise<T>): Promise<T> =>
    inSequence(async () => {
      db.exec('BEGIN IMMEDIATE')
      try {
        totals = new TotalsSum(calendar)
        const result = await work()
        await addTotals(tx, totals)
        db.exec('COMMIT')
        return result
      } catch (error) {
        if (db.inTransaction) db.exec('ROLLBACK')
        throw error
      }
    })

  return {
    getSetting: settings.get,
    setSetting: settings.set,
    /**
     * Saves settings and rows. Ignores a row if a later state of it is already saved. Returns the
     * rows with errors.
     */
    upsert: (
      { rows, requestedAt }: { rows: Row[]; requestedAt: number },
      newSettings: Partial<Record<ReplicaSetting, string>> = {},
    ): Promise<RowError[]> =>
      inTransaction(async () => {
        hasEvents = settings.get('loaded') !== null
        for (const [name, value] of Object.entries(newSettings)) {
          settings.set(name as ReplicaSetting, value)
        }
        pending.clear()
        const errors: RowError[] = []
        for (const row of rows.filter(({ Id }) => isNewer(Id, requestedAt))) {
          const error = await upsertRow(row)
          if (error !== null) errors.push(error)
        }
        await flush()
        return errors
      }),
    /**
     * Deletes rows that did not exist when they were requested; returns the number of deleted rows.
     */
    delete: (ids: number[], requestedAt: number): Promise<number> =>
      inTransaction(async () => {
        const deleted = ids.filter((id) => isNewer(id, requestedAt))
        for (const id of deleted) {
          await deleteOrder(id)
          deleteRow.run(id)
        }
        return deleted.length
      }),
    /** The order in a row, with its unique number. */
    toOrder,
    get: (id: number): Promise<Order | null> => readOrder(tx, id),
    getUniqueNumber,
    getStamp,
    /** Counts rows with `after < id <= upTo`. */
    count: (after = 0, upTo: number = Number.MAX_SAFE_INTEGER): number =>
      countRows.get(after, upTo) ?? 0,
    getStamps: (after: number, upTo: number) => selectStamps.all(after, upTo),
    /** The id of the n-th row with `id > after`, counting from 0. */
    getNthId: (after: number, n: number): number | null => selectNthId.get(after, n) ?? null,
    getLastId: (): number => selectLastId.get() ?? 0,
    /** Rows that are not valid orders: how many, and descriptions of the first ones. */
    getSkippedRows: () => ({
      count: countSkipped.get() ?? 0,
      first: selectSkipped.all().map(({ id, fault }) => `row ${id}: ${fault}`),
    }),
    /** Ids of the first orders with an edit made in NocoDB that is not recorded yet. */
    getEditedIds: (): number[] => selectEdited.all(),
    /** Drops old request times, because no earlier request can still be in progress. */
    pruneRequestTimes(): void {
      const oldest = performance.now() - REQUEST_TIMES_TTL_MS
      for (const [id, requestedAt] of requestTimes) {
        if (requestedAt < oldest) requestTimes.delete(id)
      }
    },
  }
}

export type Replica = ReturnType<typeof openReplica>
