/** The statuses of an order, sorted by progress, as in lists. */
export const ORDER_STATUSES = [
  'pending',
  'paid',
  'processing',
  'fulfilled',
  'refunded',
  'cancelled',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/** The statuses that an edit can set; cancelling is a separate command. */
export type LiveStatus = Exclude<OrderStatus, 'cancelled'>
export const LIVE_STATUSES: readonly LiveStatus[] = ORDER_STATUSES.filter(
  (status) => status !== 'cancelled',
)

export const toLiveStatus = (name: unknown): LiveStatus | undefined =>
  LIVE_STATUSES.find((status) => status === name)

/**
 * The status transitions of an edit. Statuses can be skipped; an order can be refunded once it is
 * paid, and a cancelled order can be reopened. Any order can be cancelled.
 */
const TRANSITIONS: Record<OrderStatus, readonly OrderStatus[]> = {
  pending: ['paid', 'processing', 'fulfilled'],
  paid: ['processing', 'fulfilled', 'refunded'],
  processing: ['fulfilled', 'refunded'],
  fulfilled: ['refunded'],
  refunded: [],
  cancelled: ['pending'],
}

/** The statuses that an edit can change an order to. */
export const getTransitions = (status: OrderStatus): readonly OrderStatus[] => TRANSITIONS[status]

/** The statuses of an order that is paid, and not refunded. */
export const PAID_STATUSES: readonly OrderStatus[] = ['paid', 'processing', 'fulfilled']

export const isPaid = (status: OrderStatus): boolean => PAID_STATUSES.includes(status)

/** Whether the CO2e and revenue of an order count in statistics. */
export const isCounted = (status: OrderStatus): boolean =>
  status !== 'refunded' && status !== 'cancelled'
