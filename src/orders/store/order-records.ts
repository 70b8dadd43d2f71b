import { toIsoTime } from '../../core/time.js'
import { insertRows, type Queryable } from '../../database/database.js'
import { summarizeAttempt, type AttemptSummary } from '../attempt.js'
import { toErased, toErasedChanges } from '../erase-order.js'
import type { OrderEvent } from '../order-event.js'
import type { OrderStatus } from '../order-status.js'
import type { FieldChange, HistoryEntry, Order } from '../order.js'
import type { Dialect } from './dialect.js'
import {
  READ_COLUMNS,
  ROW_COLUMNS,
  toOrder,
  toOrderRow,
  type OrderRow,
  type ReadRow,
} from './order-row.js'
import { toSearchText } from './search-text.js'
import type { TotalsSum } from './totals.js'

/** An order with its history. */
export interface RecordedOrder {
  order: Order
  /** User who created the order */
  by: string
  /** Oldest first, excluding the creation of the order */
  history: readonly HistoryEntry[]
}

/** Returns the existing orders, in the order of `ids`. */
export async function readOrders(
  tx: Queryable,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Order[]> {
  const { sql, values } = dialect.isOneOf('id', ids)
  const rows = await tx.query<ReadRow>(`SELECT ${READ_COLUMNS} FROM orders WHERE ${sql}`, values)
  const orders = new Map(rows.map((row) => [row.id, toOrder(row)]))
  return ids.flatMap((id) => orders.get(id) ?? [])
}

/** Returns the orders with the next higher IDs. */
export async function readOrdersAfter(tx: Queryable, id: number, limit: number): Promise<Order[]> {
  const sql = `SELECT ${READ_COLUMNS} FROM orders WHERE id > ? ORDER BY id LIMIT ?`
  return (await tx.query<ReadRow>(sql, [id, limit])).map(toOrder)
}

export async function readOrder(tx: Queryable, id: number): Promise<Order | null> {
  const sql = `SELECT ${READ_COLUMNS} FROM orders WHERE id = ?`
  const [row] = await tx.query<ReadRow>(sql, [id])
  return row === undefined ? null : toOrder(row)
}

/**
 * Reads an order's history, newest first, ending with the creation; `null` if the order does not
 * exist.
 */
export async function readHistory(tx: Queryable, id: number): Promise<HistoryEntry[] | null> {
  const [creation] = await tx.query<{ version: number; at: number; by: string }>(
    'SELECT version, created_at AS at, created_by AS by FROM orders WHERE id = ?',
    [id],
  )
  if (creation === undefined) return null
  const rows = await tx.query<{ version: number; at: number; by: string; changes: string }>(
    'SELECT version, at, by, changes FROM changes WHERE order_id = ? ORDER BY version DESC',
    [id],
  )
  const entries = rows.map(({ version, at, by, changes }) => ({
    at: toIsoTime(at),
    by,
    version,
    changes: JSON.parse(changes) as FieldChange[],
  }))
  // The first version of an imported order can be higher than 1.
  const version = (entries.at(-1)?.version ?? creation.version + 1) - 1
  return [...entries, { at: toIsoTime(creation.at), by: creation.by, version, changes: [] }]
}

const summarizeLatestAttempt = (history: readonly HistoryEntry[]): AttemptSummary | null =>
  history.reduce<AttemptSummary | null>(
    (latest, { changes }) => summarizeAttempt(changes) ?? latest,
    null,
  )

const CHANGE_COLUMNS = ['order_id', 'version', 'at', 'by', 'changes'] as const

const toChangeRows = ({ order, history }: RecordedOrder) =>
  history.map((entry) => ({
    order_id: Number(order.id),
    version: entry.version,
    at: Date.parse(entry.at),
    by: entry.by,
    changes: JSON.stringify(entry.changes),
  }))

/**
 * Adds orders with their history and search text, in the caller's transaction, which must end with
 * `addTotals`.
 */
export async function addMany(
  tx: Queryable,
  dialect: Dialect,
  orders: readonly RecordedOrder[],
  totals: TotalsSum,
): Promise<void> {
  if (orders.length === 0) return
  // The search index of SQLite is faster if the IDs ascend.
  const sorted = orders.toSorted((a, b) => Number(a.order.id) - Number(b.order.id))
  const rows = sorted.map(({ order, by, history }) =>
    toOrderRow(order, by, summarizeLatestAttempt(history)),
  )
  await insertRows(tx, 'orders', ROW_COLUMNS, rows)
  await insertRows(tx, 'changes', CHANGE_COLUMNS, sorted.flatMap(toChangeRows))
  await dialect.addTexts(
    tx,
    sorted.map(({ order }) => ({ id: Number(order.id), text: toSearchText(order) })),
  )
  for (const row of rows) totals.add(row)
}

const UPDATED_COLUMNS = ROW_COLUMNS.filter(
  (name) => !['id', 'placed_at', 'created_at', 'created_by', 'attempt'].includes(name),
)

interface OrderChange {
  before: Order
  after: Order
  by: string
  changes: FieldChange[]
}

/**
 * Replaces an order with its next version, in the caller's transaction, which must end with
 * `addTotals`. Returns `false` if the order no longer has the version of `before`.
 */
export async function replace(
  tx: Queryable,
  dialect: Dialect,
  { before, after, by, changes }: OrderChange,
  totals: TotalsSum,
): Promise<boolean> {
  const attempt = summarizeAttempt(changes)
  const row = toOrderRow(after, by, attempt)
  const columns = attempt === null ? UPDATED_COLUMNS : [...UPDATED_COLUMNS, 'attempt' as const]
  // The version is checked again, because another process may have changed the order since.
  const updated = await tx.query(
    `UPDATE orders SET ${columns.map((name) => `${name} = ?`).join(', ')}
     WHERE id = ? AND version = ? RETURNING id`,
    [...columns.map((name) => row[name]), row.id, before.version],
  )
  if (updated.length === 0) return false
  await updateText(tx, dialect, after)
  await insertRows(tx, 'changes', CHANGE_COLUMNS, [
    {
      order_id: row.id,
      version: after.version,
      at: row.updated_at,
      by,
      changes: JSON.stringify(changes),
    },
  ])
  totals.add(toOrderRow(before, by), -1)
  totals.add(row)
  return true
}

/**
 * Replaces an order and its whole history, or adds it, in the caller's transaction, which must end
 * with `addTotals`.
 */
export async function overwrite(
  tx: Queryable,
  dialect: Dialect,
  record: RecordedOrder,
  totals: TotalsSum,
): Promise<void> {
  const { order, by, history } = record
  const row = toOrderRow(order, by, summarizeLatestAttempt(history))
  const [before] = await tx.query<OrderRow>('SELECT * FROM orders WHERE id = ?', [row.id])
  if (before === undefined) return addMany(tx, dialect, [record], totals)
  await tx.query(
    `UPDATE orders SET ${ROW_COLUMNS.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
    [...ROW_COLUMNS.map((name) => row[name]), row.id],
  )
  await updateText(tx, dialect, order)
  await tx.query('DELETE FROM changes WHERE order_id = ?', [row.id])
  await insertRows(tx, 'changes', CHANGE_COLUMNS, toChangeRows(record))
  totals.add(before, -1)
  totals.add(row)
}

/** Replaces the search text of an order, if it differs, because that is slow. */
async function updateText(tx: Queryable, dialect: Dialect, order: Order): Promise<void> {
  const id = Number(order.id)
  const [stored, text] = [await readText(tx, dialect, id), toSearchText(order)]
  if (stored !== text) await dialect.replaceText(tx, { id, text: stored }, text)
}

/** The stored text, which an earlier version may have written. */
async function readText(tx: Queryable, { texts }: Dialect, id: number): Promise<string> {
  const [row] = await tx.query<{ text: string }>(`SELECT text FROM ${texts} WHERE id = ?`, [id])
  return row?.text ?? ''
}

/**
 * Removes an order with its history, in the caller's transaction, which must end with `addTotals`.
 * Does nothing if it does not exist.
 */
export async function remove(
  tx: Queryable,
  dialect: Dialect,
  id: number,
  totals: TotalsSum,
): Promise<void> {
  const [row] = await tx.query<OrderRow>('SELECT * FROM orders WHERE id = ?', [id])
  if (row === undefined) return
  await dialect.replaceText(tx, { id, text: await readText(tx, dialect, id) }, null)
  await tx.query('DELETE FROM changes WHERE order_id = ?', [id])
  await tx.query('DELETE FROM orders WHERE id = ?', [id])
  totals.add(row, -1)
}

/** Erases personal data from the history of an order, in the caller's transaction. */
export async function eraseHistory(tx: Queryable, id: number): Promise<void> {
  const entries = await tx.query<{ version: number; changes: string }>(
    'SELECT version, changes FROM changes WHERE order_id = ?',
    [id],
  )
  for (const { version, changes } of entries) {
    const erased = toErasedChanges(JSON.parse(changes) as FieldChange[])
    await tx.query('UPDATE changes SET changes = ? WHERE order_id = ? AND version = ?', [
      JSON.stringify(erased),
      id,
      version,
    ])
  }
}

interface EventRow {
  id: number
  at: number
  previous_status: string | null
  order_data: string
}

/**
 * Records a change for other features, in the caller's transaction.
 *
 * @param before the order before the change; `null` for a new order
 */
export async function addEvent(
  tx: Queryable,
  before: Pick<Order, 'status'> | null,
  after: Order,
): Promise<void> {
  await tx.query('INSERT INTO order_events (at, previous_status, order_data) VALUES (?, ?, ?)', [
    Date.parse(after.updatedAt),
    before === null ? null : before.status,
    JSON.stringify(after),
  ])
}

export async function readEvents(tx: Queryable, limit: number): Promise<OrderEvent[]> {
  const rows = await tx.query<EventRow>('SELECT * FROM order_events ORDER BY id LIMIT ?', [limit])
  return rows.map(({ id, at, previous_status, order_data }) => ({
    id,
    at: new Date(at).toISOString(),
    previousStatus: previous_status as OrderStatus | null,
    order: JSON.parse(order_data) as Order,
  }))
}

/**
 * Deletes only these events, not all events up to the highest ID, because events with lower IDs may
 * have been committed in the meantime.
 */
export async function deleteEvents(tx: Queryable, ids: readonly number[]): Promise<void> {
  const list = ids.map(() => '?').join(', ')
  await tx.query(`DELETE FROM order_events WHERE id IN (${list})`, ids)
}

/**
 * Erases personal data from the undispatched events of an order, in the caller's transaction. There
 * are few events, and they have no column for the order, so all are read.
 */
export async function eraseEvents(tx: Queryable, orderId: string): Promise<void> {
  const rows = await tx.query<EventRow>('SELECT * FROM order_events')
  for (const { id, order_data } of rows) {
    const order = JSON.parse(order_data) as Order
    if (order.id !== orderId) continue
    await tx.query('UPDATE order_events SET order_data = ? WHERE id = ?', [
      JSON.stringify(toErased(order)),
      id,
    ])
  }
}
