import type { OrderEvent } from '../../orders/order-event.js'
import type { OrderStatus } from '../../orders/order-status.js'
import type { Order } from '../../orders/order.js'

export const INSERT_EVENT =
  'INSERT INTO order_events (at, previous_status, order_data) VALUES (?, ?, ?)'

/** @param before the order before the change; `null` for a new order */
export const toEventValues = (
  before: Pick<Order, 'status'> | null,
  after: Order,
): [at: number, previousStatus: string | null, order: string] => [
  Date.parse(after.updatedAt),
  before === null ? null : before.status,
  JSON.stringify(after),
]

export const SELECT_EVENTS = 'SELECT * FROM order_events ORDER BY id LIMIT ?'
/** Deletes events by their IDs. Others with lower IDs may have been committed since. */
export const buildDeleteEvents = (ids: readonly number[]): string =>
  `DELETE FROM order_events WHERE id IN (${ids.map(() => '?').join(', ')})`

export interface EventRow {
  id: number
  at: number
  previous_status: string | null
  order_data: string
}

export const toEvent = ({ id, at, previous_status, order_data }: EventRow): OrderEvent => ({
  id,
  at: new Date(at).toISOString(),
  previousStatus: previous_status as OrderStatus | null,
  order: JSON.parse(order_data) as Order,
})
