import { listSpellings, toMailbox } from '../../core/validation/email-address.js'
import type { HistoryEntry, Order } from '../order.js'
import { toSearchWords } from '../store/search-text.js'

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

/** Shorter parts of words are in many words. */
const MIN_PART_LENGTH = 3

/** The words of a text, as a search folds them, without the punctuation around and between them. */
const toWords = (text: string): string[] =>
  toSearchWords(text)
    .join(' ')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')

/** Whether a text consists only of parts of some words, at least one of which is not short. */
const consistsOf = (text: readonly string[], words: readonly string[]): boolean =>
  text.every((part) => words.some((word) => word.includes(part))) &&
  text.some((part) => part.length >= MIN_PART_LENGTH || words.includes(part))

/**
 * Returns a function that says whether a text, such as a search, is about a customer: it contains
 * the email, in any spelling, or the words of a name or a company, or consists only of parts of
 * these. The domain of the email alone is not about the customer. Pure.
 */
export function createCustomerMatcher(
  email: string,
  names: Iterable<string>,
): (text: string) => boolean {
  const mailbox = toMailbox(email)
  const local = toWords(mailbox.slice(0, mailbox.lastIndexOf('@')))
  const emails = listSpellings(email).map(toWords)
  const known = [...names].map(toWords).filter((words) => words.length > 0)
  const isPartOfEmail = (text: readonly string[]): boolean => {
    const ofLocal = text.filter((part) => local.some((word) => word.includes(part)))
    return consistsOf(ofLocal, local) && emails.some((words) => consistsOf(text, words))
  }
  return (text) => {
    const words = toWords(text)
    return (
      toSearchWords(text).some((word) => toMailbox(word) === mailbox) ||
      [...emails, ...known].some((whole) => whole.every((word) => words.includes(word))) ||
      known.some((name) => consistsOf(words, name)) ||
      isPartOfEmail(words)
    )
  }
}
