import { createNextVersion, type ChangeOutcome } from './apply-changes.js'
import { ORDER_STATUSES, type OrderStatus } from './order-status.js'
import type { FieldChange, Order } from './order.js'
import { STATUSES_AFTER_FULFILMENT } from './validate-order.js'

type History = readonly { changes: readonly FieldChange[] }[]

/** The status before the latest change; `undefined` if that change cannot be undone. */
export function getPreviousStatus(order: Order, [latest]: History): OrderStatus | undefined {
  const change = latest?.changes.find(({ field, to }) => field === 'status' && to === order.status)
  return ORDER_STATUSES.find((status) => status === change?.from && status !== 'cancelled')
}

/**
 * Undoes the latest status change. A cancelled order returns to its status before the cancellation,
 * even if other fields have been edited since then. If that status is unknown, the order returns to
 * pending. Any other order returns to its previous status if its latest change was a status change.
 * Pure.
 *
 * @param history newest first
 */
export function undoLastChange(order: Order, history: History, now: string): ChangeOutcome {
  if (order.status !== 'cancelled') {
    const status = getPreviousStatus(order, history)
    if (status === undefined) return { outcome: 'unchanged', order }
    return createNextVersion(order, { status }, now, {
      getTimestamps: ({ fulfilledAt }, next) => ({
        fulfilledAt: STATUSES_AFTER_FULFILMENT.includes(next) ? fulfilledAt : null,
        cancelledAt: null,
      }),
    })
  }
  const cancellation = history
    .flatMap(({ changes }) => changes)
    .find(({ field, to }) => field === 'status' && to === 'cancelled')
  const status = ORDER_STATUSES.find((name) => name === cancellation?.from)
  if (status === undefined) return createNextVersion(order, { status: 'pending' }, now)
  return createNextVersion(order, { status }, now, {
    getTimestamps: ({ fulfilledAt }) => ({ fulfilledAt, cancelledAt: null }),
  })
}
