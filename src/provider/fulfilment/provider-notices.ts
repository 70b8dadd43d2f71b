import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { getLostProviderId, isUnresolved, type FulfilmentAttempt } from '../../orders/attempt.js'
import { joinWithAnd } from '../../orders/labels.js'
import type { Order } from '../../orders/order.js'
import {
  isInconclusive,
  type CheckResult,
  type ProviderFailure,
  type QuoteResult,
} from './provider-requests.js'

/** A message about the offset order. */
export interface ProviderNotice {
  title: string
  text: string
  /** Other affected orders */
  links?: { href: string; text: string }[]
}

declare module '../../orders/pages/order-extensions.js' {
  interface OrderPageState {
    /** The result of checking with the provider */
    providerCheck?: 'not_placed' | 'inconclusive'
    providerNotice?: ProviderNotice
  }
}

export const NOTHING_ORDERED = 'Nothing was ordered.'
export const STATUS_UNCHANGED = 'The placement status is still unknown.'

/**
 * Describes a failed request to the provider.
 *
 * @param consequence sentence about the effect on the order, appended to the text
 */
export function describeProviderFailure(
  failure: ProviderFailure,
  consequence: string,
): ProviderNotice {
  switch (failure.outcome) {
    case 'refused': {
      const reason = failure.message || `No reason was given (status ${failure.status}).`
      return { title: 'The provider rejected the request', text: `${reason} ${consequence}` }
    }
    case 'invalid_response':
      return {
        title: 'The provider sent an invalid response',
        text: `${consequence} Contact the provider.`,
      }
    case 'unreachable':
      return {
        title: 'The provider cannot be reached',
        text: `${consequence} Try again in a few minutes.`,
      }
  }
}

/** Describes why there is no valid quote for an order. */
export function describeQuoteError(
  quote: Exclude<QuoteResult, { outcome: 'quoted' }>,
  format: Formatters,
): ProviderNotice {
  switch (quote.outcome) {
    case 'unexpected_order':
      return {
        title: `The provider may have placed the order, as ${quote.id}`,
        text: 'Only a price was requested, but the response has an order ID. Do not try again: contact the provider.',
      }
    case 'quote_mismatch': {
      const { requested, quoted } = quote
      return {
        title: 'The provider’s quote does not match the request',
        text: `Requested: ${format.exact(requested.tons)} t, in ${requested.currency}. Quoted: ${format.exact(quoted.tons)} t for ${format.money(quoted.amountMinor, quoted.currency)} (${quoted.currency}). ${NOTHING_ORDERED} Contact the provider.`,
      }
    }
    case 'portfolio_not_found':
      return {
        title: 'The provider no longer offers this portfolio',
        text: `${NOTHING_ORDERED} Choose another portfolio.`,
      }
    default:
      return describeProviderFailure(quote, NOTHING_ORDERED)
  }
}

const CHECK_MANUALLY =
  'Search for the order at the provider yourself. If you find it, enter its ID; otherwise, allow another attempt.'

/** Describes why checking with the provider failed. */
export function describeCheckFailure(
  failure: ProviderFailure,
  consequence: string,
): ProviderNotice {
  const { title, text } = describeProviderFailure(failure, consequence)
  return { title, text: isInconclusive(failure) ? `${text} ${CHECK_MANUALLY}` : text }
}

const MAX_NAMED_ORDERS = 3

/** Describes why the provider’s list of orders is inconclusive. */
export function describeIncompleteList({
  missing,
}: Extract<CheckResult, { outcome: 'incomplete_list' }>): ProviderNotice {
  const title = 'The provider returned an incomplete list'
  if (missing.length === 0) {
    return {
      title,
      text: `This order is not in it, but the list has more pages, which were not read. ${CHECK_MANUALLY}`,
    }
  }
  const named = missing
    .slice(0, MAX_NAMED_ORDERS)
    .map(({ orderNumber, orderSourceId }) => `${orderSourceId} (${orderNumber})`)
  const names = missing.length > named.length ? [...named, 'more'] : named
  return {
    title,
    text: `This order is not in it, nor ${names.length === 1 ? 'is' : 'are'} ${joinWithAnd(names)}. ${CHECK_MANUALLY} If one of those IDs is wrong, correct it in its order, then check again.`,
  }
}

/** Describes why an order cannot be placed now. */
export function describeNotFulfillable(
  order: Order,
  attempt: FulfilmentAttempt | null,
): ProviderNotice {
  const text = 'No second order was sent.'
  if (order.orderSourceId !== null) return { title: 'This order is already placed', text }
  const lostProviderId = getLostProviderId(order, attempt)
  if (lostProviderId !== null) {
    return { title: `This order is already placed, as ${lostProviderId}`, text }
  }
  return isUnresolved(order, attempt)
    ? { title: 'This order is already being placed', text }
    : { title: 'This order cannot be placed in its current status', text: NOTHING_ORDERED }
}
