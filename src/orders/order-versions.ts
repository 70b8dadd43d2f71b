import type { HistoryEntry, Order } from './order.js'

/** The order as it was before a change. */
function revert(order: Order, { at, changes, version }: HistoryEntry, updatedAt: string): Order {
  const fields = changes.filter(({ field }) => field in order)
  return {
    ...order,
    // Clears only timestamps that this change set; an undo keeps earlier timestamps.
    ...(order.fulfilledAt === at ? { fulfilledAt: null } : {}),
    ...(order.cancelledAt === at ? { cancelledAt: null } : {}),
    ...(Object.fromEntries(fields.map(({ field, from }) => [field, from])) as Partial<Order>),
    updatedAt,
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
    versions.unshift(revert(oldest, entry, history[i - 1]?.at ?? order.createdAt))
  }
  return versions
}
