import { toLiveStatus } from './order-status.js'
import type { HistoryEntry, Order } from './order.js'

/** The status before the latest cancellation in a history, oldest first. */
const findCancelledFrom = (history: readonly HistoryEntry[]): Order['cancelledFrom'] =>
  toLiveStatus(
    history
      .flatMap(({ changes }) => changes)
      .findLast(({ field, to }) => field === 'status' && to === 'cancelled')?.from,
  ) ?? null

/**
 * The order as it was before a change.
 *
 * @param earlier the history before the change, oldest first
 */
function revert(
  order: Order,
  { at, changes, version }: HistoryEntry,
  earlier: readonly HistoryEntry[],
): Order {
  const fields = changes.filter(({ field }) => field in order)
  const statusChange = fields.find(({ field }) => field === 'status')
  return {
    ...order,
    // Clears only timestamps that this change set; an undo keeps earlier timestamps.
    ...(order.paidAt === at ? { paidAt: null } : {}),
    ...(order.fulfilledAt === at ? { fulfilledAt: null } : {}),
    ...(order.cancelledAt === at ? { cancelledAt: null } : {}),
    ...(Object.fromEntries(fields.map(({ field, from }) => [field, from])) as Partial<Order>),
    ...(statusChange === undefined
      ? {}
      : { cancelledFrom: statusChange.from === 'cancelled' ? findCancelledFrom(earlier) : null }),
    updatedAt: earlier.at(-1)?.at ?? order.createdAt,
    version: version - 1,
  }
}

/**
 * Returns the versions of an order after version `since`, oldest first. The current version is
 * always included; versions that the history no longer contains are left out.
 *
 * @param history oldest first
 */
export function listVersions(
  order: Order,
  history: readonly HistoryEntry[],
  since: number,
): [Order, ...Order[]] {
  const versions: [Order, ...Order[]] = [order]
  for (const [i, entry] of [...history.entries()].reverse()) {
    const [oldest] = versions
    if (entry.version !== oldest.version || oldest.version <= since + 1) break
    versions.unshift(revert(oldest, entry, history.slice(0, i)))
  }
  return versions
}
