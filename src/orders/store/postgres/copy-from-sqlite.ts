import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type { Queryable, SqlValue } from '../../../database/database.js'
import type { Postgres } from '../../../database/postgres.js'
import { getHighestOrderNumber } from '../sqlite/order-numbers.js'
import { openStoreCalendar, readSetting } from '../sqlite/settings.js'
import { ROW_COLUMNS, type OrderRow } from '../sql/order-row.js'
import { toGrams } from './grams.js'
import { addTotals, TotalsSum } from '../totals.js'

/** Orders per transaction; an interrupted copy continues after the last committed batch. */
const BATCH_SIZE = 1_000

const SEARCH_INDEX = 'order_search_by_gram'

interface ChangeRow {
  order_id: number
  version: number
  at: number
  by: string
  changes: string
}
const CHANGE_COLUMNS = ['order_id', 'version', 'at', 'by', 'changes'] as const

/** Tables with the same columns in both databases, which are copied as a whole. */
const SHARED_TABLES = [
  'idempotency_keys',
  'order_links',
  'certificates',
  'payments',
  'order_views',
  'conversion_counts',
  'conversion_orders',
  'accounts',
  'account_links',
  'sessions',
  'audit_log',
  'audit_chain',
  'authenticator_apps',
  'passkeys',
  'recovery_codes',
  'api_keys',
  'webhook_endpoints',
  'order_events',
  'outbox',
  'outbox_attempts',
]

/** Columns whose values PostgreSQL generates, by table. */
const SEQUENCES = { order_events: 'id', outbox: 'position' }

export interface CopyResult {
  /** Number of orders in both databases */
  orders: number
  /** Digests of the orders and of their history */
  digests: { orders: string; changes: string }
}

/** The copy differs from the original. */
export class CopyMismatchError extends Error {
  override readonly name = 'CopyMismatchError'
}

const placeholders = (rows: number, columns: number): string =>
  Array<string>(rows)
    .fill(`(${Array<string>(columns).fill('?').join(', ')})`)
    .join(', ')

async function insertRows<Name extends string>(
  tx: Queryable,
  table: string,
  columns: readonly Name[],
  rows: readonly Record<Name, SqlValue>[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query(
    `INSERT INTO ${table} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
     VALUES ${placeholders(rows.length, columns.length)}`,
    rows.flatMap((row) => columns.map((name) => row[name])),
  )
}

/** Replaces the rows of a table with the rows from SQLite. */
async function copyTable(db: Database, tx: Queryable, table: string): Promise<void> {
  await tx.query(`DELETE FROM ${table}`)
  let rows: Record<string, SqlValue>[] = []
  for (const row of db.prepare<[], Record<string, SqlValue>>(`SELECT * FROM ${table}`).iterate()) {
    rows.push(row)
    if (rows.length < BATCH_SIZE) continue
    await insertRows(tx, table, Object.keys(row), rows)
    rows = []
  }
  await insertRows(tx, table, Object.keys(rows[0] ?? {}), rows)
}

/**
 * Parses the JSON of an attempt and sorts its keys, because PostgreSQL stores the JSON in another
 * form.
 */
const normalizeAttempt = (value: unknown): unknown =>
  typeof value === 'string' ? sortEntries(JSON.parse(value)) : sortEntries(value)
const sortEntries = (value: unknown): unknown =>
  value === null ? null : Object.entries(value as object).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** Creates a digest of the values of these columns; the digest depends on the order of the rows. */
function createDigest(columns: readonly string[]) {
  const hash = createHash('sha256')
  return {
    add(rows: readonly object[]): void {
      for (const row of rows as readonly Record<string, unknown>[]) {
        const values = columns.map((name) =>
          name === 'attempt' ? normalizeAttempt(row[name]) : row[name],
        )
        hash.update(`${JSON.stringify(values)}\n`)
      }
    },
    get: (): string => hash.digest('hex'),
  }
}

/**
 * Reads all rows in batches and returns their digest. Each batch starts after the last row of the
 * previous batch.
 */
async function digestRows<Row extends object>(
  columns: readonly string[],
  readBatch: (last: Row | undefined) => Row[] | Promise<Row[]>,
): Promise<string> {
  const digest = createDigest(columns)
  for (let last: Row | undefined; ;) {
    const rows = await readBatch(last)
    digest.add(rows)
    last = rows.at(-1)
    if (last === undefined) return digest.get()
  }
}

/**
 * Copies a SQLite database to a migrated PostgreSQL database, and compares the orders and their
 * history. Nothing may write to either database during the copy. Continues an earlier copy; leaves
 * a database with other orders unchanged. Throws CopyMismatchError.
 *
 * @param onProgress called with the number of orders copied so far, and the total
 */
export async function copyFromSqlite(
  db: Database,
  postgres: Postgres,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<CopyResult> {
  const calendar = openStoreCalendar(db)
  const total = db.prepare<[], number>('SELECT count(*) FROM orders').pluck().get() ?? 0
  const selectOrders = db.prepare<[number, number], OrderRow & { text: string }>(
    `SELECT orders.*, search_texts.text FROM orders JOIN search_texts USING (id)
     WHERE id > ? ORDER BY id LIMIT ?`,
  )
  const selectChanges = db.prepare<[number, number], ChangeRow>(
    'SELECT * FROM changes WHERE order_id > ? AND order_id <= ? ORDER BY order_id, version',
  )

  const [copied] = await postgres.read((tx) =>
    tx.query<{ last: number; count: number }>(
      'SELECT coalesce(max(id), 0) AS last, count(*) AS count FROM orders',
    ),
  )
  if (copied !== undefined && copied.count > 0) await compareCopy(db, postgres, copied.last)
  // Copying is faster if the index is updated in batches instead of entry by entry.
  await postgres.migrate((tx) => tx.query(`ALTER INDEX ${SEARCH_INDEX} SET (fastupdate = on)`))
  let [last, done] = [copied?.last ?? 0, copied?.count ?? 0]
  for (;;) {
    const rows = selectOrders.all(last, BATCH_SIZE)
    const lastRow = rows.at(-1)
    if (lastRow === undefined) break
    const changes = selectChanges.all(last, lastRow.id)
    await postgres.migrate(async (tx) => {
      await insertRows(tx, 'orders', ROW_COLUMNS, rows)
      await insertRows(
        tx,
        'order_search',
        ['order_id', 'text', 'grams'],
        rows.map(({ id, text }) => ({ order_id: id, text, grams: toGrams(text) })),
      )
      for (let at = 0; at < changes.length; at += BATCH_SIZE) {
        await insertRows(tx, 'changes', CHANGE_COLUMNS, changes.slice(at, at + BATCH_SIZE))
      }
      const sum = new TotalsSum(calendar)
      for (const row of rows) sum.add(row)
      await addTotals(tx, sum)
    })
    last = lastRow.id
    done += rows.length
    onProgress(done, total)
  }

  await postgres.migrate(async (tx) => {
    for (const table of SHARED_TABLES) await copyTable(db, tx, table)
    for (const [table, column] of Object.entries(SEQUENCES)) {
      await tx.query(
        `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), max(${column})) FROM ${table}`,
      )
    }
    await tx.query(`ALTER INDEX ${SEARCH_INDEX} SET (fastupdate = off)`)
    await tx.query(`SELECT gin_clean_pending_list('${SEARCH_INDEX}')`)
    await tx.query("SELECT setval('order_ids', ?, false)", [last + 1])
    // The next number is also above all imported numbers, so that new orders do not collide with
    // them.
    const next = Math.max(
      Number(readSetting(db, 'next_order_number')),
      getHighestOrderNumber(db, 'orders') + 1,
    )
    await tx.query("SELECT setval('order_numbers', ?, false)", [next])
  })
  return { orders: done, digests: await compareCopy(db, postgres) }
}

/**
 * Returns the digests of the orders, and of their history. Throws CopyMismatchError if the digests
 * of the two databases differ.
 *
 * @param lastId compares only the orders up to this ID
 */
async function compareCopy(
  db: Database,
  postgres: Postgres,
  lastId = Number.MAX_SAFE_INTEGER,
): Promise<CopyResult['digests']> {
  const columns = ROW_COLUMNS.join(', ')
  const ordersSql = `SELECT ${columns} FROM orders WHERE id > ? AND id <= ? ORDER BY id LIMIT ${BATCH_SIZE}`
  const changesSql = `SELECT * FROM changes WHERE (order_id, version) > (?, ?) AND order_id <= ?
    ORDER BY order_id, version LIMIT ${BATCH_SIZE}`
  const digest = async (read: <Row>(sql: string, values: number[]) => Row[] | Promise<Row[]>) => ({
    orders: await digestRows<OrderRow>(ROW_COLUMNS, (last) =>
      read(ordersSql, [last?.id ?? 0, lastId]),
    ),
    changes: await digestRows<ChangeRow>(CHANGE_COLUMNS, (last) =>
      read(changesSql, [last?.order_id ?? 0, last?.version ?? 0, lastId]),
    ),
  })
  const original = await digest(<Row>(sql: string, values: number[]) =>
    db.prepare<number[], Row>(sql).all(...values),
  )
  const copy = await postgres.readSnapshot((tx) =>
    digest(<Row>(sql: string, values: number[]) => tx.query<Row>(sql, values)),
  )
  if (copy.orders !== original.orders || copy.changes !== original.changes) {
    throw new CopyMismatchError(
      'The orders in PostgreSQL differ from those in SQLite: copy into an empty database.',
    )
  }
  return copy
}
