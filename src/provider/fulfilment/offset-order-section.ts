import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { MINUTE_MS } from '../../core/time.js'
import {
  canBeFulfilled,
  findConfirmedAttempt,
  findDifferences,
  findLatestAttempt,
  getLostProviderId,
  isSameTons,
  isUnresolved,
  type FulfilmentAttempt,
} from '../../orders/attempt.js'
import { joinWithAnd } from '../../orders/labels.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import { buildContextUrl, type ListContext } from '../../orders/pages/list-context.js'
import type {
  BuiltSection,
  NextStep,
  OrderData,
  OrderPageState,
} from '../../orders/pages/order-extensions.js'
import type { ProviderOrderRef } from '../../orders/store/order-store.js'
import type { OrderMessage } from '../../outbox/read-messages.js'
import type { Fulfilment } from './fulfil-orders.js'
import type { ProviderNotice } from './provider-notices.js'
import { getTons } from './provider-requests.js'

/** What the section shows besides the order. */
interface ProviderData {
  /** `null` if no provider is configured */
  fulfilment: Fulfilment | null
  /** The order's automatic placement; `null` if there is none */
  placement: OrderMessage | null
  /** Other orders with the same provider order ID */
  duplicates: readonly ProviderOrderRef[]
}

function buildDuplicateWarnings(
  duplicates: readonly ProviderOrderRef[],
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

/** Builds the view of an attempt whose outcome is unknown. */
function buildUnresolvedView(
  attempt: FulfilmentAttempt,
  { order, context, format }: OrderData,
  fulfilment: Fulfilment | null,
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
    // A minute later, because the time shown has no seconds.
    nextCheckAt:
      isInFlight && isChecked
        ? format.time(new Date(Date.now() + remainingMs + MINUTE_MS).toISOString())
        : null,
    resetUrl: canReset
      ? buildUrl('fulfilment/reset', providerCheck === 'inconclusive' ? { unlisted: '1' } : {})
      : null,
  }
}

/** Describes the automatic placement of an order; `null` if there is nothing to show. */
function describePlacement(placement: OrderMessage | null, format: Formatters): string | null {
  switch (placement?.state) {
    case 'pending':
      return placement.detail === null
        ? 'Automatic placement: queued.'
        : `Automatic placement: ${placement.detail} The next attempt is on ${format.dateTime(new Date(placement.nextAttemptAt).toISOString())}.`
    case 'failed':
      return `Automatic placement stopped: ${placement.detail ?? ''}`
    default:
      return null
  }
}

/** Builds the view of the offset order: its status and the possible actions. */
function buildView(
  data: OrderData,
  { fulfilment, placement, duplicates }: ProviderData,
  state: OrderPageState,
) {
  const { order, history, context, format } = data
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
    unresolved: isUnresolved(order, attempt)
      ? buildUnresolvedView(attempt, data, fulfilment, state)
      : null,
    refusal,
    automation: describePlacement(placement, format),
    notice: state.providerNotice ?? null,
    warnings: [
      ...buildPurchaseWarnings(order, history, format),
      ...buildDuplicateWarnings(duplicates, context),
    ],
  }
}

/** What to do next about the offset order; `undefined` if the status of the order decides. */
function findNextStep(
  order: Order,
  { placeUrl, unresolved, warnings }: ReturnType<typeof buildView>,
  placement: OrderMessage | null,
): NextStep | null | undefined {
  const review = { type: 'review', href: '#group-provider' } as const
  if (unresolved !== null) {
    if (unresolved.isInProgress) return null
    return unresolved.lostProviderId === null
      ? {
          title: 'Placement status unknown',
          text: 'Check with the provider before you do anything else.',
          action: review,
        }
      : {
          title: 'The provider order ID is missing',
          text: 'The order was placed. Enter the ID again.',
          action: review,
        }
  }
  if (warnings[0] !== undefined) {
    return {
      title: 'The offset order needs attention',
      text: `${warnings[0].title}.`,
      action: review,
    }
  }
  const isBought = order.orderSourceId !== null || order.retirement !== null
  if (isBought || placeUrl === null || !['paid', 'processing'].includes(order.status)) {
    return undefined
  }
  const dialog = { type: 'dialog', url: placeUrl, permission: 'orders:settle' } as const
  return placement?.state === 'failed'
    ? {
        title: 'The offset order was not placed automatically',
        text: `${placement.detail ?? ''} Correct the cause, then place it here. You will see the price before anything is ordered.`.trim(),
        action: { ...dialog, label: 'Try again…' },
      }
    : {
        title: 'Paid. Place the offset order.',
        text: 'You will see the price before anything is ordered.',
        action: { ...dialog, label: 'Place offset order…' },
      }
}

/** Builds the section about the offset order at the provider. */
export function buildOffsetOrderSection(
  data: OrderData,
  provider: ProviderData,
  state: OrderPageState,
): BuiltSection {
  const view = buildView(data, provider, state)
  const nextStep = findNextStep(data.order, view, provider.placement)
  const isNextStep = nextStep?.action.type === 'dialog'
  return { view: { ...view, isNextStep }, ...(nextStep !== undefined && { nextStep }) }
}
