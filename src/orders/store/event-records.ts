import type { Queryable } from '../../database/database.js'
import { toErased } from '../erase-order.js'
import type { OrderEvent } from '../order-event.js'
import type { OrderStatus } from '../order-status.js'
import type { Order } from '../order.js'

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
