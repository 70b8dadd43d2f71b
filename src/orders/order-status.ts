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

/** The statuses of an order that is paid, and not refunded. */
export const PAID_STATUSES: readonly OrderStatus[] = ['paid', 'processing', 'fulfilled']

export const isPaid = (status: OrderStatus): boolean => PAID_STATUSES.includes(status)

/** Whether an order with this status has been paid; it may have been refunded since. */
export const hasBeenPaid = (status: unknown): boolean =>
  status === 'refunded' || PAID_STATUSES.some((one) => one === status)

/** Statuses of orders that may have been fulfilled. */
export const STATUSES_AFTER_FULFILMENT: readonly OrderStatus[] = [
  'fulfilled',
  'refunded',
  'cancelled',
]

/** The status of an order, and what it remembers of its earlier statuses. */
export interface StatusRecord {
  status: OrderStatus
  /** The status before the cancellation; `null` if the order is not cancelled, or if unknown */
  cancelledFrom: LiveStatus | null
  /** ISO 8601 */
  paidAt: string | null
  fulfilledAt: string | null
  cancelledAt: string | null
}

/**
 * The status transitions of an edit. Statuses can be skipped, and an order can be refunded once it
 * is paid.
 */
const TRANSITIONS: Record<LiveStatus, readonly LiveStatus[]> = {
  pending: ['paid', 'processing', 'fulfilled'],
  paid: ['processing', 'fulfilled', 'refunded'],
  processing: ['fulfilled', 'refunded'],
  fulfilled: ['refunded'],
  refunded: [],
}

/**
 * The status that a cancelled order had before; `null` if it is unknown. Only an order that was
 * never paid can have been pending.
 */
export const getStatusBeforeCancellation = ({
  cancelledFrom,
  paidAt,
}: Pick<StatusRecord, 'cancelledFrom' | 'paidAt'>): LiveStatus | null =>
  cancelledFrom ?? (paidAt === null ? 'pending' : null)

/**
 * The statuses that an edit can change an order to. A cancelled order can only return to its status
 * before the cancellation, or be refunded if it had been paid. Any order can be cancelled.
 */
export function getTransitions(
  order: Pick<StatusRecord, 'status' | 'cancelledFrom' | 'paidAt'>,
): readonly LiveStatus[] {
  if (order.status !== 'cancelled') return TRANSITIONS[order.status]
  const before = getStatusBeforeCancellation(order)
  return LIVE_STATUSES.filter(
    (status) => status === before || (status === 'refunded' && order.paidAt !== null),
  )
}

/** Whether an order was paid and cancelled, but not refunded. */
export const isRefundDue = ({
  status,
  cancelledFrom,
  paidAt,
}: Pick<StatusRecord, 'status' | 'cancelledFrom' | 'paidAt'>): boolean =>
  status === 'cancelled' && paidAt !== null && cancelledFrom !== 'refunded'

/**
 * What an order remembers after a change of its status. A cancelled order keeps everything, so that
 * it can return to where it was.
 *
 * @param now ISO 8601
 */
export function getStatusFields(
  order: StatusRecord,
  status: OrderStatus,
  now: string,
): Omit<StatusRecord, 'status'> {
  const { paidAt, fulfilledAt } = order
  if (status === 'cancelled') {
    return {
      cancelledFrom: toLiveStatus(order.status) ?? null,
      paidAt,
      fulfilledAt,
      cancelledAt: now,
    }
  }
  const isRestored = order.status === 'cancelled'
  return {
    cancelledFrom: null,
    paidAt: hasBeenPaid(status) ? (paidAt ?? now) : null,
    fulfilledAt:
      status === 'pending' ? null : status === 'fulfilled' && !isRestored ? now : fulfilledAt,
    cancelledAt: null,
  }
}

interface StatusChange {
  field: string
  from: unknown
  to: unknown
}

/**
 * When an order was paid if that was not recorded: when it was fulfilled or, if earlier, created;
 * `null` if it was never paid.
 */
export function inferPaidAt({
  status,
  cancelledFrom,
  fulfilledAt,
  createdAt,
}: Omit<StatusRecord, 'paidAt' | 'cancelledAt'> & { createdAt: string }): string | null {
  const reached = status === 'cancelled' ? cancelledFrom : status
  const wasPaid = reached === null ? fulfilledAt !== null : hasBeenPaid(reached)
  if (!wasPaid) return null
  const isFulfilledFirst = fulfilledAt !== null && Date.parse(fulfilledAt) < Date.parse(createdAt)
  return isFulfilledFirst ? fulfilledAt : createdAt
}

/**
 * What an order remembers if this was not recorded, from its history where possible. The migrations
 * of the databases do the same.
 *
 * @param history newest first
 */
export function inferStatusFields(
  order: Pick<StatusRecord, 'status' | 'fulfilledAt'> & { createdAt: string },
  history: readonly { at: string; changes: readonly StatusChange[] }[],
): Pick<StatusRecord, 'cancelledFrom' | 'paidAt'> {
  const changes = history.flatMap(({ at, changes }) =>
    changes.filter(({ field }) => field === 'status').map(({ from, to }) => ({ at, from, to })),
  )
  const cancellation = changes.find(({ to }) => to === 'cancelled')
  const cancelledFrom =
    order.status === 'cancelled' ? (toLiveStatus(cancellation?.from) ?? null) : null
  const paidAt = inferPaidAt({ ...order, cancelledFrom })
  const payment = changes.find(({ from, to }) => from === 'pending' && hasBeenPaid(to))
  return { cancelledFrom, paidAt: paidAt === null ? null : (payment?.at ?? paidAt) }
}

/** Whether the CO2e and revenue of an order count in statistics. */
export const isCounted = (status: OrderStatus): boolean =>
  status !== 'refunded' && status !== 'cancelled'
