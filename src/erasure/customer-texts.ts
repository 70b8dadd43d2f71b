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

/** The names, company and VAT ID in an order of a customer, former ones included. */
export function listCustomerNames({ order, history, isCurrent }: CustomerOrder): string[] {
  const { customerName, checkout } = order
  const former = history.flatMap(({ changes }) =>
    changes.flatMap(({ field, from, to }) => (field === 'customerName' ? [from, to] : [])),
  )
  const names = [...former, checkout?.beneficiary, checkout?.company, checkout?.vatId].filter(
    (name): name is string => typeof name === 'string' && name !== customerName,
  )
  return isCurrent ? [customerName, ...names] : names
}

/** Shorter beginnings of words are part of many words. */
const MIN_BEGINNING_LENGTH = 3

/** The words of a text, as a search folds them, without the punctuation around and between them. */
const toWords = (text: string): string[] =>
  toSearchWords(text)
    .join(' ')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')

/**
 * Returns a function that says whether a text, such as a search, is about a customer: it contains
 * the email, in any spelling, a name or a company, or consists only of words of a name, a company or
 * the part of the email before the @. Of a word, the beginning is enough. Pure.
 */
export function createCustomerMatcher(
  email: string,
  names: Iterable<string>,
): (text: string) => boolean {
  const mailbox = toMailbox(email)
  const spellings = listSpellings(email)
  const local = mailbox.slice(0, mailbox.lastIndexOf('@'))
  const wholes = [...spellings, ...names].map((text) => toWords(text).join(' '))
  const identifiers = [local, ...names].map(toWords)
  const isPart = (word: string, identifier: readonly string[]): boolean =>
    identifier.some(
      (part) => part === word || (word.length >= MIN_BEGINNING_LENGTH && part.startsWith(word)),
    )
  return (text) => {
    const words = toWords(text)
    const all = ` ${words.join(' ')} `
    return (
      toSearchWords(text).some((word) => toMailbox(word) === mailbox) ||
      wholes.some((whole) => whole !== '' && all.includes(` ${whole} `)) ||
      (words.length > 0 &&
        identifiers.some((identifier) => words.every((word) => isPart(word, identifier))))
    )
  }
}
