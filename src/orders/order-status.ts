/** The statuses of an order, in the order of its life; lists sort by it. */
export const ORDER_STATUSES = [
  'pending',
  'paid',
  'processing',
  'fulfilled',
  'refunded',
  'cancelled',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/**
 * Which status an order may take by an edit. Steps forward may skip some; money goes back only
 * where it has come in; a cancelled order begins anew. Cancelling is an act of its own, open
 * from every status.
 */
const MOVES: Record<OrderStatus, readonly OrderStatus[]> = {
  pending: ['paid', 'processing', 'fulfilled'],
  paid: ['processing', 'fulfilled', 'refunded'],
  processing: ['fulfilled', 'refunded'],
  fulfilled: ['refunded'],
  refunded: [],
  cancelled: ['pending'],
}

/** The statuses that an order may move to from this one. */
export const movesFrom = (status: OrderStatus): readonly OrderStatus[] => MOVES[status]

/** Whether CO2e and money of an order count: it is neither given back nor called off. */
export const counts = (status: OrderStatus): boolean =>
  status !== 'refunded' && status !== 'cancelled'
