import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { createDayCalendar } from '../../core/formatting/day-calendar.js'
import {
  insertRows,
  type Database,
  type Queryable,
  type SqlValue,
} from '../../database/database.js'
import { SHARED_TABLES } from '../../database/migrations.js'
import { DIALECTS } from './dialect.js'
import { parseOrderNumber } from './import-many.js'
import { ROW_COLUMNS, toNames, type OrderRow } from './order-row.js'
import { toSearchText } from './search-text.js'
import { readTimeZone } from './store-settings.js'
import { recountTotals } from './totals.js'

/** Orders per transaction; an interrupted copy continues after the last committed batch. */
const BATCH_SIZE = 500

/** Columns whose values PostgreSQL generates, by table. */
const SEQUENCES = { order_events: 'id', outbox: 'position' }

interface CopyResult {
  /** Number of orders in both databases */
  orders: number
  /** Digests of the orders and of their history */
  digests: Digests
}

interface Digests {
  orders: string
  changes: string
}

/** The copy differs from the original. */
export class CopyMismatchError extends Error {
  override readonly name = 'CopyMismatchError'
}

type Row = Record<string, SqlValue>

/** Inserts rows with the values of generated columns. */
const copyRows = (tx: Queryable, table: string, rows: readonly Row[]): Promise<void> =>
  insertRows(tx, table, Object.keys(rows[0] ?? {}), rows, { before: 'OVERRIDING SYSTEM VALUE' })

const SELECT_ORDERS = `SELECT ${ROW_COLUMNS.join(', ')} FROM orders
  WHERE id > ? AND id <= ? ORDER BY id LIMIT ${BATCH_SIZE}`
const SELECT_CHANGES = `SELECT order_id, version, at, by, changes FROM changes
  WHERE order_id > ? AND order_id <= ? ORDER BY order_id, version`

/** An order and its history, as they are stored. */
interface Batch {
  orders: OrderRow[]
  changes: Row[]
}

/** Reads orders in batches, with their history. */
async function* readBatches(from: Queryable, first: number, last: number): AsyncGenerator<Batch> {
  for (let previous = first; ;) {
    const orders = await from.query<OrderRow>(SELECT_ORDERS, [previous, last])
    const lastId = orders.at(-1)?.id
    if (lastId === undefined) return
    yield { orders, changes: await from.query<Row>(SELECT_CHANGES, [previous, lastId]) }
    previous = lastId
  }
}

/** PostgreSQL stores the JSON of an attempt in another form. */
function normalize(row: Row): SqlValue[] {
  const { attempt = null } = row
  if (attempt === null) return Object.values(row)
  const parsed = typeof attempt === 'string' ? (JSON.parse(attempt) as object) : attempt
  const sorted = Object.entries(parsed).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.values({ ...row, attempt: JSON.stringify(sorted) })
}

async function readDigests(from: Queryable, last: number): Promise<Digests> {
  const [orders, changes] = [createHash('sha256'), createHash('sha256')]
  for await (const batch of readBatches(from, 0, last)) {
    for (const row of batch.orders) orders.update(`${JSON.stringify(normalize({ ...row }))}\n`)
    for (const row of batch.changes) changes.update(`${JSON.stringify(Object.values(row))}\n`)
  }
  return { orders: orders.digest('hex'), changes: changes.digest('hex') }
}

/** Returns the digests of the orders up to an ID. Throws CopyMismatchError if they differ. */
async function compare(from: Queryable, to: Database, last: number): Promise<Digests> {
  const original = await readDigests(from, last)
  const copy = await to.readSnapshot((tx) => readDigests(tx, last))
  if (isDeepStrictEqual(copy, original)) return copy
  throw new CopyMismatchError(
    'The orders in PostgreSQL differ from those in SQLite: copy into an empty database.',
  )
}

/** Replaces the rows of a table. */
async function copyTable(from: Queryable, tx: Queryable, table: string): Promise<void> {
  const rows = await from.query<Row>(`SELECT * FROM ${table}`)
  await tx.query(`DELETE FROM ${table}`)
  await copyRows(tx, table, rows)
}

async function copyOtherTables(from: Queryable, tx: Queryable): Promise<void> {
  for (const table of SHARED_TABLES) await copyTable(from, tx, table)
  for (const [table, column] of Object.entries(SEQUENCES)) {
    await tx.query(
      `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), max(${column})) FROM ${table}`,
    )
  }
}

/** The next order number, above all imported numbers. */
async function readNextNumber(from: Queryable): Promise<number> {
  const [next] = await from.query<{ value: string }>(
    "SELECT value FROM settings WHERE name = 'next_order_number'",
  )
  const rows = await from.query<{ order_number: string }>('SELECT order_number FROM orders')
  return rows.reduce(
    (highest, row) => Math.max(highest, parseOrderNumber(row.order_number) + 1),
    Number(next?.value ?? 1),
  )
}

/**
 * Copies a SQLite database to a migrated PostgreSQL database, and compares the orders and their
 * history. Nothing may write to either database during the copy. Continues an earlier copy; leaves
 * a database with other orders unchanged. Throws CopyMismatchError.
 *
 * @param onProgress called with the number of orders copied so far, and the total
 */
export async function copyDatabase(
  from: Queryable,
  to: Database,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<CopyResult> {
  const count = 'SELECT count(*) AS orders, coalesce(max(id), 0) AS last FROM orders'
  const [[original], [copied]] = [
    await from.query<{ orders: number; last: number }>(count),
    await to.query<{ orders: number; last: number }>(count),
  ]
  if (original === undefined || copied === undefined) throw new Error('Nothing was counted')
  if (copied.orders > 0) await compare(from, to, copied.last)
  const dialect = DIALECTS[to.engine]
  let done = copied.orders
  for await (const { orders, changes } of readBatches(from, copied.last, original.last)) {
    await to.migrate(async (tx) => {
      await insertRows(tx, 'orders', ROW_COLUMNS, orders)
      await copyRows(tx, 'changes', changes)
      await dialect.addTexts(
        tx,
        orders.map((row) => ({ id: row.id, text: toSearchText(toNames(row)) })),
      )
    })
    done += orders.length
    onProgress(done, original.orders)
  }
  const nextNumber = await readNextNumber(from)
  await to.migrate(async (tx) => {
    await copyOtherTables(from, tx)
    await dialect.continueNumbers(tx, nextNumber)
    await recountTotals(tx, createDayCalendar(await readTimeZone(tx)))
  })
  return { orders: done, digests: await compare(from, to, Number.MAX_SAFE_INTEGER) }
}
