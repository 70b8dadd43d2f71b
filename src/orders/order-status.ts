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

/** The statuses that an order may be given; cancelling is an act of its own. */
export type LiveStatus = Exclude<OrderStatus, 'cancelled'>
export const LIVE_STATUSES: readonly LiveStatus[] = ORDER_STATUSES.filter(
  (status) => status !== 'cancelled',
)

/** The status of this name that an order may be given. */
export const toLiveStatus = (name: unknown): LiveStatus | undefined =>
  LIVE_STATUSES.find((status) => status === name)

/**
 * Which status an order may take by an edit. Steps forward may skip some; money goes back only
 * where it has come in; a cancelled order begins anew. Cancelling is open from every status.
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
export const getTransitions = (status: OrderStatus): readonly OrderStatus[] => MOVES[status]

/** Whether CO2e and money of an order count: it is neither given back nor called off. */
export const isCounted = (status: OrderStatus): boolean =>
  status !== 'refunded' && status !== 'cancelled'
