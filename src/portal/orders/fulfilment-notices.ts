import type { Order } from '../../orders/order.js'
import { getPurchase, isOpen, type FulfilmentAttempt } from '../../fulfilment/attempt.js'
import {
  isInconclusive,
  type CheckResult,
  type NoResponse,
  type Quote,
} from '../../fulfilment/fulfilment.js'
import type { Formatters } from '../formatters.js'
import { formatDifference, type ProviderNotice } from './fulfilment-view.js'

export const NOTHING_ORDERED = 'nothing was ordered'
export const STATUS_UNKNOWN = 'nothing new is known'

/** What an attempt, or looking for one, came to that was of no use. */
export const describeNoResponse = (what: string, answer: NoResponse): ProviderNotice =>
  answer.outcome === 'refused'
    ? {
        title: `The order source refuses: ${what}`,
        text: answer.message || `It gave no reason (${answer.status}).`,
      }
    : answer.outcome === 'invalid_response'
      ? {
          title: `The order source's answer cannot be used: ${what}`,
          text: 'It answered with something else than was asked for. Ask those who run it.',
        }
      : {
          title: `The order source does not answer: ${what}`,
          text: 'It cannot be reached at the moment, or something is wrong there. Try again in a while.',
        }

/** Why nobody may agree to a price. */
export function describeQuoteError(
  quote: Exclude<Quote, { outcome: 'quoted' }>,
  figures: Formatters,
): ProviderNotice {
  switch (quote.outcome) {
    case 'bought unasked':
      return {
        title: `The order source may have bought it, as ${quote.id}`,
        text: 'Only the price was asked for, and it answered as if that were an order. Do not try again: ask those who run it.',
      }
    case 'not as asked': {
      const { asked, answered } = quote
      return {
        title: `The order source gives the price of something else: ${NOTHING_ORDERED}`,
        text: `Asked: ${figures.exact(asked.tons)} t, in ${asked.currency}. Its answer: ${figures.exact(answered.tons)} t for ${figures.money(answered.amountMinor, answered.currency)} (${answered.currency}). Ask those who run it.`,
      }
    }
    case 'no such portfolio':
      return {
        title: `The order source has no such portfolio: ${NOTHING_ORDERED}`,
        text: 'Choose one of those that it offers.',
      }
    default:
      return describeNoResponse(NOTHING_ORDERED, quote)
  }
}

/** What an administrator can do where the list does not tell. */
const LOOK_THERE = 'Look there yourself: if you find it, enter its id, else release it.'

/** Why it is not known whether an order is there, where the order source was of no use. */
export function describeListError(what: string, answer: NoResponse): ProviderNotice {
  const { title, text } = describeNoResponse(what, answer)
  return { title, text: isInconclusive(answer) ? `${text} ${LOOK_THERE}` : text }
}

/** As many of the orders that a list lacks are named. */
const MOST_NAMED = 3

/** Why it proves nothing that an order is not in a list. */
export function describeIncompleteList({
  lacks,
}: Extract<CheckResult, { outcome: 'not listed' }>): ProviderNotice {
  const title = 'It is not in the list of the order source, which is not whole'
  if (lacks.length === 0) {
    return { title, text: `There are more pages than it gives here. ${LOOK_THERE}` }
  }
  const named = lacks
    .slice(0, MOST_NAMED)
    .map(({ orderNumber, orderSourceId }) => `${orderSourceId} (${orderNumber})`)
  const all = lacks.length > named.length ? [...named, 'more'] : named
  return {
    title,
    text: `It lacks ${formatDifference(all)}. ${LOOK_THERE} Should the id of one of them be wrong, mend it in that order, then look again here.`,
  }
}

/** Why an order cannot be placed now, though somebody wanted to. */
export function describeRejection(
  order: Order,
  placement: FulfilmentAttempt | null,
): ProviderNotice {
  const text = 'Nothing was sent twice.'
  if (order.orderSourceId !== null) {
    return { title: 'This order is at the order source already', text }
  }
  const bought = getPurchase(order, placement)
  if (bought !== null) return { title: `This order is bought already, as ${bought}`, text }
  return isOpen(order, placement)
    ? { title: 'Somebody is placing this order already', text }
    : { title: 'This order cannot be placed as it is', text: 'Nothing was ordered.' }
}
