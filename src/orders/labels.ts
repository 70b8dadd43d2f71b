import type { CalculatorType } from '../calculator/calculator-data.js'
import type { PaymentMethod } from './order-checkout.js'
import type { OrderException, PaymentFilter } from './order-filters.js'
import type { OrderStatus } from './order-status.js'
import type { Order, OrderOrigin, Retirement } from './order.js'

export const STATUS_LABELS: Record<OrderStatus, string> = {
  pending: 'Pending',
  paid: 'Paid',
  processing: 'Processing',
  fulfilled: 'Fulfilled',
  refunded: 'Refunded',
  cancelled: 'Cancelled',
}

export const ORIGIN_LABELS: Record<OrderOrigin, string> = {
  guest: 'A guest',
  admin: 'An administrator',
  api: 'The API',
}

export const EXCEPTION_LABELS: Record<OrderException, string> = {
  not_placed: 'Paid, not placed',
  placement_unknown: 'Placement unknown',
  differs: 'Differs at the provider',
  not_refunded: 'Paid, cancelled, not refunded',
  no_evidence: 'Fulfilled, no proof of retirement',
}

/** Short names of the origins, for lists. */
export const ORIGIN_NAMES: Record<OrderOrigin, string> = {
  guest: 'Guest',
  admin: 'Portal',
  api: 'API',
}

export const METHOD_LABELS: Record<PaymentMethod, string> = { invoice: 'Invoice', stripe: 'Stripe' }

export const PAYMENT_LABELS: Record<PaymentFilter, string> = {
  open: 'Unpaid',
  processing: 'Processing',
  paid: 'Paid',
  partially_refunded: 'Partially refunded',
  refunded: 'Refunded',
  failed: 'Failed',
  expired: 'Expired',
  disputed: 'Disputed',
  problem: 'Needs attention',
}

/** The label of a status inside a sentence. */
export const toInlineLabel = (status: OrderStatus): string => STATUS_LABELS[status].toLowerCase()

export const CALCULATOR_LABELS: Record<CalculatorType, string> = {
  fuel: 'Fuel',
  distance: 'Distance',
  custom: 'CO₂e amount',
}

/** Joins strings as in `a, b and c`. */
export const joinWithAnd = (texts: readonly string[]): string =>
  new Intl.ListFormat('en-GB').format(texts)

/** Joins strings as in `a, b or c`. */
export const joinWithOr = (texts: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(texts)

/**
 * Formats the day of a retirement. A date without a time is that day in every time zone.
 *
 * @param formatDate formats a timestamp as a date in the service's time zone
 */
export function formatRetirementDate(
  { retiredAt }: Pick<Retirement, 'retiredAt'>,
  formatDate: (timestamp: string) => string,
): string {
  const isDay = !retiredAt.includes('T')
  return isDay ? DAYS.format(new Date(retiredAt)) : formatDate(retiredAt)
}

const DAYS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** Flash messages by code. */
const FLASH_MESSAGES = {
  created: ({ orderNumber }) => `Order ${orderNumber} was created.`,
  saved: ({ orderNumber }) => `Order ${orderNumber} was saved.`,
  unchanged: ({ orderNumber }) => `Order ${orderNumber} was not changed.`,
  moved: ({ orderNumber, status }) => `Order ${orderNumber} is now ${toInlineLabel(status)}.`,
  refunded: ({ orderNumber }) => `The payment of order ${orderNumber} was refunded.`,
  recalculated: ({ orderNumber }) => `Order ${orderNumber} was recalculated.`,
  cancelled: ({ orderNumber }) => `Order ${orderNumber} was cancelled.`,
  restored: ({ orderNumber, status }) =>
    `Order ${orderNumber} was restored. It is ${toInlineLabel(status)} again.`,
  undone: ({ orderNumber, status }) => `Order ${orderNumber} is ${toInlineLabel(status)} again.`,
  placed: ({ orderNumber }) => `The offset order for ${orderNumber} was placed.`,
  'placed-otherwise': ({ orderNumber }) =>
    `The offset order for ${orderNumber} was placed, but it differs from what you confirmed.`,
  found: ({ orderNumber }) =>
    `The provider has the offset order for ${orderNumber}. Its ID was saved.`,
  reset: ({ orderNumber }) => `Order ${orderNumber} can be placed again.`,
  'mail-queued': ({ orderNumber }) => `The email about order ${orderNumber} is being sent.`,
} as const satisfies Record<string, (order: Order) => string>

export type MessageCode = keyof typeof FLASH_MESSAGES

export const isMessageCode = (code: string): code is MessageCode =>
  Object.hasOwn(FLASH_MESSAGES, code)

export const formatFlashMessage = (code: MessageCode, order: Order): string =>
  FLASH_MESSAGES[code](order)
