import { formatMoney, getNumberFormatter } from '../core/formatting/number-formatter.js'
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

/** What a guest accepted by placing an order. */
interface AcceptedTerms {
  amountMinor: number
  currency: string
  co2eKg: number
  /** `null` if there was no provider */
  portfolioId: number | null
}

/**
 * Returns what a guest accepted; `null` if that is not known. Older orders do not record it, but
 * their first version does if the history is complete.
 *
 * @param history newest first
 */
export function findAcceptedTerms(
  order: Order,
  history: readonly HistoryEntry[],
): AcceptedTerms | null {
  const { checkout } = order
  if (checkout === null) return null
  const { portfolioId, offsetMinor, serviceFeeMinor } = checkout
  const [first] = listVersions(order, history.toReversed(), 0)
  const known = checkout.currency === undefined ? (first.version === 1 ? first : null) : checkout
  if (known?.currency === undefined || known.co2eKg === undefined) return null
  const { currency, co2eKg } = known
  return { amountMinor: offsetMinor + serviceFeeMinor, currency, co2eKg, portfolioId }
}

/**
 * Whether an order was cancelled or refunded, even if that was undone. What the guest accepted ended
 * then, so a person decides whether its credits are bought.
 */
export const wasEnded = (history: readonly Pick<HistoryEntry, 'changes'>[]): boolean =>
  history.some(({ changes }) =>
    changes.some(
      ({ field, from, to }) =>
        field === 'status' &&
        // An imported order may have been cancelled before its history begins.
        [from, to].some((status) => status === 'cancelled' || status === 'refunded'),
    ),
  )

/** A property of an order that differs from what the guest accepted. Pages show these names. */
type TermsDifference = 'CO₂e' | 'currency' | 'amount'

/** Finds what was changed in an order since the guest accepted it. */
export function findTermsDifferences(
  order: Pick<Order, 'amountMinor' | 'currency' | 'co2eKg'>,
  accepted: AcceptedTerms,
): TermsDifference[] {
  const differences: Record<TermsDifference, boolean> = {
    'CO₂e': order.co2eKg !== accepted.co2eKg,
    currency: order.currency !== accepted.currency,
    amount: order.amountMinor !== accepted.amountMinor,
  }
  return (Object.keys(differences) as TermsDifference[]).filter((name) => differences[name])
}

/** Describes mass and price in one line, for example “2,000 kg CO₂e for US$47.80”. */
export const describeTerms = ({
  amountMinor,
  currency,
  co2eKg,
}: Pick<Order, 'amountMinor' | 'currency' | 'co2eKg'>): string =>
  `${getNumberFormatter('en-GB').exact(co2eKg)} kg CO₂e for ${formatMoney(amountMinor, currency)}`
