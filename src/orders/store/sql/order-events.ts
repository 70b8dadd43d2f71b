import type { OrderEvent } from '../../order-event.js'
import type { OrderStatus } from '../../order-status.js'
import { toErased } from '../../erasure.js'
import type { Order } from '../../order.js'

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
/**
 * Deletes only these events, not all events up to the highest ID, because events with lower IDs may
 * have been committed in the meantime.
 */
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

// Reads all events that have not been dispatched yet. There are few of them, and they have no
// column for the order ID.
export const SELECT_EVENT_ORDERS = 'SELECT id, order_data FROM order_events'
export const UPDATE_EVENT_ORDER = 'UPDATE order_events SET order_data = ? WHERE id = ?'

/** The events of an order without its personal data, as parameters for UPDATE_EVENT_ORDER. */
export const toErasedEvents = (
  rows: readonly Pick<EventRow, 'id' | 'order_data'>[],
  orderId: string,
): [order: string, id: number][] =>
  rows.flatMap(({ id, order_data }) => {
    const order = JSON.parse(order_data) as Order
    return order.id === orderId ? [[JSON.stringify(toErased(order)), id]] : []
  })
