import type { OrderStatus } from '../../orders/order-status.js'
import type { FieldChange, HistoryEntry, Order } from '../../orders/order.js'

/** The status change that created a version; `undefined` if the status did not change. */
export const findStatusChange = (
  history: readonly HistoryEntry[],
  version: number,
): FieldChange | undefined =>
  history
    .find((entry) => entry.version === version)
    ?.changes.find(({ field }) => field === 'status')

export const hasStatusChangeAfter = (history: readonly HistoryEntry[], version: number): boolean =>
  history.some(
    (entry) => entry.version > version && findStatusChange(history, entry.version) !== undefined,
  )

/**
 * Whether the same user has already made the status change that now conflicts, for example because
 * the response to the form was lost.
 */
export function isRepeatedRequest(
  order: Order,
  history: readonly HistoryEntry[],
  { by, version, status }: { by: string; version: number; status: OrderStatus },
): boolean {
  const next = history.find((entry) => entry.version === version + 1)
  return (
    order.status === status &&
    next?.by === by &&
    findStatusChange(history, version + 1)?.to === status
  )
}

/** The status change immediately after a version, if it reverses the previous status change. */
export function findReversal(
  history: readonly HistoryEntry[],
  version: number,
): FieldChange | undefined {
  const next = findStatusChange(history, version + 1)
  const previous = history
    .filter((entry) => entry.version <= version)
    .flatMap(({ changes }) => changes)
    .find(({ field }) => field === 'status')
  return next?.to === (previous?.from ?? 'pending') ? next : undefined
}
