import type { Queryable, SqlValue } from '../../../database/database.js'
import { summarizeAttempt } from '../../attempt.js'
import type { DayCalendar } from '../../../core/formatting/day-calendar.js'
import { toErasedChanges } from '../../erasure.js'
import type { FieldChange, HistoryEntry, Order } from '../../order.js'
import {
  formatTime,
  READ_COLUMNS,
  READ_NAMES,
  ROW_COLUMNS,
  toOrder,
  toOrderRow,
  type OrderRow,
  type ReadRow,
} from '../sql/order-row.js'
import {
  SELECT_EVENT_ORDERS,
  toErasedEvents,
  UPDATE_EVENT_ORDER,
  type EventRow,
} from '../sql/order-events.js'
import { toSearchText } from '../sql/search-text.js'
import { toGrams } from './grams.js'
import { TotalsSum } from '../totals.js'

const UPDATED_COLUMNS = ROW_COLUMNS.filter(
  (name) => !['id', 'placed_at', 'created_at', 'created_by', 'attempt'].includes(name),
)

const INSERT_ORDER = `INSERT INTO orders (${ROW_COLUMNS.join(', ')})
  VALUES (${ROW_COLUMNS.map(() => '?').join(', ')})`
// The version is checked again, because another process may have changed the order since it was
// read.
const UPDATE_ORDER = `UPDATE orders SET ${UPDATED_COLUMNS.map((name) => `${name} = ?`).join(', ')}
  WHERE id = ? AND version = ? RETURNING id`

type ObjectRow = Record<(typeof READ_NAMES)[number], SqlValue>

const parseOrder = (row: ObjectRow): Order =>
  toOrder(READ_NAMES.map((name) => row[name]) as unknown as ReadRow)

/** Returns the existing orders, in the order of `ids`. */
export async function readOrders(tx: Queryable, ids: readonly number[]): Promise<Order[]> {
  if (ids.length === 0) return []
  const rows = await tx.query<ObjectRow>(
    `SELECT ${READ_COLUMNS} FROM orders WHERE id = ANY(?::bigint[])`,
    [ids],
  )
  const byId = new Map(rows.map((row) => [row.id, parseOrder(row)]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export const readOrder = async (tx: Queryable, id: number): Promise<Order | null> =>
  (await readOrders(tx, [id]))[0] ?? null

/**
 * Reads an order's history, newest first, ending with the creation; `null` if the order does not
 * exist.
 */
export async function readHistory(tx: Queryable, id: number): Promise<HistoryEntry[] | null> {
  const rows = await tx.query<{ version: number; at: number; by: string; changes: string | null }>(
    `SELECT version, at, by, changes, 1 AS part FROM changes WHERE order_id = ?
     UNION ALL SELECT version, created_at, created_by, NULL, 2 FROM orders WHERE id = ?
     ORDER BY part, version DESC`,
    [id, id],
  )
  const creation = rows.pop()
  if (creation === undefined) return null
  const entries = rows.map(({ version, at, by, changes }) => ({
    at: formatTime(at),
    by,
    version,
    changes: JSON.parse(changes ?? '[]') as FieldChange[],
  }))
  // The first version of an imported order can be higher than 1.
  const version = (entries.at(-1)?.version ?? creation.version + 1) - 1
  return [...entries, { at: formatTime(creation.at), by: creation.by, version, changes: [] }]
}

const toValues = (row: OrderRow, columns: readonly (keyof OrderRow)[]): SqlValue[] =>
  columns.map((name) => row[name])

/** Adds an order with its search text, in the caller's transaction; returns how the totals change. */
export async function addOrder(
  tx: Queryable,
  calendar: DayCalendar,
  order: Order,
  by: string,
): Promise<TotalsSum> {
  const row = toOrderRow(order, by)
  const text = toSearchText(order)
  await tx.query(INSERT_ORDER, toValues(row, ROW_COLUMNS))
  await tx.query('INSERT INTO order_search VALUES (?, ?, ?)', [row.id, text, toGrams(text)])
  const sum = new TotalsSum(calendar)
  sum.add(row)
  return sum
}

/**
 * Replaces an order with its next version, in the caller's transaction. Returns how the totals change; `null` if the
 * order no longer has the version of `before`.
 */
export async function replaceOrder(
  tx: Queryable,
  calendar: DayCalendar,
  {
    before,
    after,
    by,
    changes,
  }: { before: Order; after: Order; by: string; changes: FieldChange[] },
): Promise<TotalsSum | null> {
  const [oldRow, row] = [toOrderRow(before, by), toOrderRow(after, by)]
  const updated = await tx.query(UPDATE_ORDER, [
    ...toValues(row, UPDATED_COLUMNS),
    row.id,
    before.version,
  ])
  if (updated.length === 0) return null
  const text = toSearchText(after)
  if (text !== toSearchText(before)) {
    await tx.query('UPDATE order_search SET text = ?, grams = ? WHERE order_id = ?', [
      text,
      toGrams(text),
      row.id,
    ])
  }
  await tx.query('INSERT INTO changes VALUES (?, ?, ?, ?, ?)', [
    row.id,
    after.version,
    row.updated_at,
    by,
    JSON.stringify(changes),
  ])
  const attempt = summarizeAttempt(changes)
  if (attempt !== null) {
    await tx.query('UPDATE orders SET attempt = ? WHERE id = ?', [JSON.stringify(attempt), row.id])
  }
  const sum = new TotalsSum(calendar)
  sum.add(oldRow, -1)
  sum.add(row)
  return sum
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

/** Erases personal data from the undispatched events of an order, in the caller's transaction. */
export async function eraseEvents(tx: Queryable, id: number): Promise<void> {
  const events = await tx.query<Pick<EventRow, 'id' | 'order_data'>>(SELECT_EVENT_ORDERS)
  for (const values of toErasedEvents(events, String(id))) {
    await tx.query(UPDATE_EVENT_ORDER, values)
  }
}
