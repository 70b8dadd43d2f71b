import {
  canBeFulfilled,
  findConfirmedAttempt,
  findLatestAttempt,
  getLostProviderId,
  isUnresolved,
  type FulfilmentAttempt,
} from '../../orders/attempt.js'
import { getTons } from '../../provider/fulfilment/quote.js'
import { findDifferences, isSameTons } from '../../orders/verify-response.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { joinWithAnd } from '../../orders/labels.js'
import { describePlacement } from './certificate-section.js'
import { buildContextUrl, type ListContext } from './list-context.js'
import type { DuplicateOrder, OrderData, OrderPageState, ProviderNotice } from './order-data.js'

function buildDuplicateWarnings(
  duplicates: readonly DuplicateOrder[],
  context: ListContext,
): ProviderNotice[] {
  if (duplicates.length === 0) return []
  const [verb, others] = duplicates.length === 1 ? ['has', 'other order'] : ['have', 'other orders']
  return [
    {
      title: `${joinWithAnd(duplicates.map(({ orderNumber }) => orderNumber))} ${verb} the same provider order ID`,
      text: `The offset order was placed for one order only. Check with the provider which one, and correct the ID of the ${others}.`,
      links: duplicates.map(({ id, orderNumber }) => ({
        href: buildContextUrl(context, `/admin/orders/${id}`),
        text: orderNumber,
      })),
    },
  ]
}

/** Warnings if the offset order differs from what was confirmed, or from the customer's order. */
function buildPurchaseWarnings(
  order: Order,
  history: HistoryEntry[],
  format: Formatters,
): ProviderNotice[] {
  const attempt = findLatestAttempt(history)
  if (attempt?.state !== 'placed') return []
  const { orderSourceId: id = attempt.reference } = attempt
  const confirmed = findConfirmedAttempt(history, attempt.reference)
  const differences = confirmed === null ? [] : findDifferences(confirmed, attempt)
  const describe = ({ tons, amountMinor, currency, portfolioName }: FulfilmentAttempt) =>
    `${format.exact(tons)} t for ${format.money(amountMinor, currency)}${differences.includes('portfolio') ? ` from ${portfolioName}` : ''}`
  const warnings: ProviderNotice[] = []
  if (confirmed !== null && differences.length > 0) {
    warnings.push({
      title: `Differs from what was confirmed: ${joinWithAnd(differences)}`,
      text: `Confirmed: ${describe(confirmed)}. The provider placed ${describe(attempt)}, as ${id}. Contact the provider.`,
    })
  }
  if (order.orderSourceId !== null && !isSameTons(getTons(order), attempt.tons)) {
    warnings.push({
      title: 'The CO₂e of the order has changed',
      text: `The order is for ${format.exact(getTons(order))} t, but the offset order is for ${format.exact(attempt.tons)} t.`,
    })
  }
  if (order.orderSourceId !== null && order.orderSourceId !== id) {
    warnings.push({
      title: `Placed as ${id}, which is not this order’s provider order ID`,
      text: `The order has the ID ${order.orderSourceId}. Check with the provider which one is right, and whether it was placed twice.`,
    })
  }
  return warnings
}

/**
 * Added to the earliest time for the next check, because the displayed time has no seconds and
 * would be too early.
 */
const MINUTE_MS = 60_000

/** Builds the view of an attempt whose outcome is unknown. */
function buildUnresolvedView(
  attempt: FulfilmentAttempt,
  { order, context, format, fulfilment }: OrderData,
  { providerCheck }: OrderPageState,
) {
  const path = `/admin/orders/${order.id}`
  const buildUrl = (subpath: string, extra = {}) =>
    buildContextUrl(context, `${path}/${subpath}`, { group: 'provider', ...extra })
  const remainingMs = fulfilment?.getRemainingMs(attempt) ?? 0
  const lostProviderId = getLostProviderId(order, attempt)
  const isInFlight = lostProviderId === null && remainingMs > 0
  const isChecked = providerCheck !== undefined
  const canReset = fulfilment !== null && (lostProviderId !== null || (isChecked && !isInFlight))
  return {
    /** The response may still arrive */
    isInProgress: attempt.state === 'sent' && isInFlight,
    at: attempt.sentAt,
    dateTime: format.dateTime(attempt.sentAt),
    by: attempt.by,
    tons: format.exact(attempt.tons),
    price: format.money(attempt.amountMinor, attempt.currency),
    portfolio: attempt.portfolioName,
    reference: attempt.reference,
    lostProviderId,
    progressUrl: buildUrl('fulfilment/progress'),
    checkUrl: fulfilment !== null ? buildUrl('fulfilment/check') : null,
    editUrl: buildUrl('edit'),
    checkedAt: providerCheck === 'not_placed' ? format.time(new Date().toISOString()) : null,
    nextCheckAt:
      isInFlight && isChecked
        ? format.time(new Date(Date.now() + remainingMs + MINUTE_MS).toISOString())
        : null,
    resetUrl: canReset
      ? buildUrl('fulfilment/reset', providerCheck === 'inconclusive' ? { unlisted: '1' } : {})
      : null,
  }
}

/** Builds the offset order section: its status and the possible actions. */
export function buildFulfilmentView(data: OrderData, state: OrderPageState) {
  const { order, history, context, format, fulfilment, duplicates } = data
  const path = `/admin/orders/${order.id}`
  const attempt = findLatestAttempt(history)
  const isConfigured = fulfilment !== null
  const placeUrl =
    isConfigured && canBeFulfilled(order, attempt)
      ? buildContextUrl(context, `${path}/fulfilment`, { group: 'provider' })
      : null
  const refusal =
    attempt?.state === 'refused' && placeUrl !== null
      ? {
          reason: attempt.reason ?? 'it was not ordered',
          status: attempt.status ?? null,
          at: attempt.sentAt,
          dateTime: format.dateTime(attempt.sentAt),
          by: attempt.by,
        }
      : null
  return {
    id: order.orderSourceId,
    version: order.version,
    recordUrl:
      isConfigured && order.orderSourceId !== null
        ? buildContextUrl(context, `${path}/provider-record`, { group: 'provider' })
        : null,
    placeUrl,
    unresolved: isUnresolved(order, attempt) ? buildUnresolvedView(attempt, data, state) : null,
    refusal,
    automation: describePlacement(data.guest?.placement, format),
    notice: state.providerNotice ?? null,
    warnings: [
      ...buildPurchaseWarnings(order, history, format),
      ...buildDuplicateWarnings(duplicates, context),
    ],
  }
}

export type FulfilmentView = ReturnType<typeof buildFulfilmentView>
