import { createNextVersion, type ChangeOutcome } from './apply-changes.js'
import {
  getStatusBeforeCancellation,
  hasBeenPaid,
  LIVE_STATUSES,
  type LiveStatus,
} from './order-status.js'
import type { FieldChange, Order } from './order.js'
import { STATUSES_AFTER_FULFILMENT } from './validate-order.js'

type History = readonly { changes: readonly FieldChange[] }[]

/**
 * The status before the latest change; `undefined` if that change cannot be undone. Only an undo
 * leads back to pending, and an undo is not undone: a person marks the order as paid again.
 */
export function getPreviousStatus(order: Order, [latest]: History): LiveStatus | undefined {
  if (order.status === 'pending') return undefined
  const change = latest?.changes.find(({ field, to }) => field === 'status' && to === order.status)
  return LIVE_STATUSES.find((status) => status === change?.from)
}

/**
 * Undoes the latest status change. A cancelled order returns to its status before the cancellation,
 * even if other fields have been edited since then; it is unchanged if that status is unknown. Any
 * other order returns to its previous status if its latest change was a status change. Pure.
 *
 * @param history newest first
 */
export function undoLastChange(order: Order, history: History, now: string): ChangeOutcome {
  const isCancelled = order.status === 'cancelled'
  const status = isCancelled
    ? getStatusBeforeCancellation(order)
    : getPreviousStatus(order, history)
  if (status == null) return { outcome: 'unchanged', order }
  if (isCancelled) return createNextVersion(order, { status }, now)
  return createNextVersion(order, { status }, now, {
    getFields: ({ paidAt, fulfilledAt }, next) => ({
      cancelledFrom: null,
      paidAt: hasBeenPaid(next) ? paidAt : null,
      fulfilledAt: STATUSES_AFTER_FULFILMENT.includes(next) ? fulfilledAt : null,
      cancelledAt: null,
    }),
  })
}
