import { toSearchWords } from '../order-store/sql/search-text.js'
import type { HistoryEntry, Order } from '../orders/order.js'
import { listSpellings, toMailbox } from '../validation/email-address.js'

/** An order of a customer. */
interface CustomerOrder {
  order: Order
  history: readonly HistoryEntry[]
  /** Whether the order has the customer's email now */
  isCurrent: boolean
}

/** The names and companies in an order of a customer, former ones included. */
export function listCustomerNames({ order, history, isCurrent }: CustomerOrder): string[] {
  const { customerName, checkout } = order
  const former = history.flatMap(({ changes }) =>
    changes.flatMap(({ field, from, to }) => (field === 'customerName' ? [from, to] : [])),
  )
  const names = [...former, checkout?.beneficiary, checkout?.company].filter(
    (name): name is string => typeof name === 'string' && name !== customerName,
  )
  return isCurrent ? [customerName, ...names] : names
}

/**
 * Returns a function that says whether a text, such as a search, is about a customer: it contains
 * the email, in any spelling, a name or a company, or consists only of words of these. Pure.
 */
export function createCustomerMatcher(
  email: string,
  names: Iterable<string>,
): (text: string) => boolean {
  const mailbox = toMailbox(email)
  const identifiers = [...listSpellings(email), ...names].map(toSearchWords)
  return (text) => {
    const words = toSearchWords(text)
    const all = ` ${words.join(' ')} `
    return (
      words.some((word) => toMailbox(word) === mailbox) ||
      identifiers.some(
        (identifier) =>
          identifier.length > 0 &&
          (all.includes(` ${identifier.join(' ')} `) ||
            (words.length > 0 && words.every((word) => identifier.includes(word)))),
      )
    )
  }
}
