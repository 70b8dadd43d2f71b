import type { OrderStatus } from './order-status.js'
import type { Order } from './order.js'

/** A change to an order, or its creation. */
export interface OrderEvent {
  /** Position among the events of the store */
  id: number
  /** When the change was made, ISO 8601 */
  at: string
  /** The status before the change; `null` for a new order */
  previousStatus: OrderStatus | null
  /** The order after the change */
  order: Order
}

export const ORDER_EVENT_TYPES = [
  'order.created',
  'order.updated',
  'order.paid',
  'order.fulfilled',
  'order.cancelled',
  'order.refunded',
] as const
export type OrderEventType = (typeof ORDER_EVENT_TYPES)[number]

/**
 * The types of an event: what happened to the order, then the status that the order reached, if
 * any. Every change to an existing order has the type `order.updated`, so a subscription to that
 * type receives all changes.
 */
export function getEventTypes({
  previousStatus,
  order: { status },
}: Pick<OrderEvent, 'previousStatus' | 'order'>): OrderEventType[] {
  const types: OrderEventType[] = [previousStatus === null ? 'order.created' : 'order.updated']
  const reached = ORDER_EVENT_TYPES.find((type) => type === `order.${status}`)
  if (reached !== undefined && status !== previousStatus) types.push(reached)
  return types
}
