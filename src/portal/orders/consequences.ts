import type { FulfilmentAttempt } from '../../orders/attempt.js'
import { findMailTypes, type MailType } from '../../checkout/mail/mail-types.js'
import { isMailOrder } from '../../checkout/mail/message.js'
import { applyCommand, type OrderCommand } from '../../orders/order-command.js'
import type { CurrencyAmount } from '../../orders/order-statistics.js'
import { isPaid } from '../../orders/order-status.js'
import type { Order } from '../../orders/order.js'
import { hasEvidence, isValid, type Certificate } from '../../certificates/certificate.js'
import { getBalance, type Payment } from '../../payments/payment.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { MAIL_TITLES } from '../../checkout/mail/mail-view.js'

/** What else there is of an order. */
export interface OrderRecords {
  /** Payments of the order through Stripe after the change */
  payments: readonly Payment[]
  /** The newest certificate, valid or not; `null` if there is none */
  certificate: Certificate | null
  /** The latest attempt to place the order with the provider */
  attempt: FulfilmentAttempt | null
}

/** An order before and after a change. */
export interface OrderChange extends OrderRecords {
  before: Order
  after: Order
}

/** What a change leads to, besides the new values of the orders. */
export interface Consequences {
  /** The emails that are sent, without repetitions */
  mailTypes: MailType[]
  /** Number of guests who get an email */
  guests: number
  /** Numbers of certificates that become valid or invalid */
  issued: number
  withdrawn: number
  /** Paid and not refunded, by currency */
  unreturned: CurrencyAmount[]
  /** Number of orders that were paid and not refunded */
  unreturnedOrders: number
}

/** Whether an order has a valid certificate, or gets one within a minute. */
const hasCertificate = (order: Order, { certificate, attempt }: OrderRecords): boolean =>
  order.checkout !== null &&
  ((certificate !== null && isValid(certificate, order, attempt)) || hasEvidence(order, attempt))

/** Simulates a command on orders; returns those that it changes. Cannot simulate an undo. */
export const simulateChanges = (
  orders: readonly Order[],
  command: Exclude<OrderCommand, { type: 'undo' }>,
  getRecords: (order: Order) => OrderRecords,
): OrderChange[] =>
  orders.flatMap((before) => {
    const result = applyCommand(before, [], command, new Date().toISOString())
    return result.outcome === 'changed'
      ? [{ before, after: result.order, ...getRecords(before) }]
      : []
  })

const isIssued = ({ before, after, ...records }: OrderChange): boolean =>
  !hasCertificate(before, records) && hasCertificate(after, records)

const isWithdrawn = ({ before, after, ...records }: OrderChange): boolean =>
  hasCertificate(before, records) && !hasCertificate(after, records)

function findMails(change: OrderChange): MailType[] {
  const { before, after, certificate } = change
  if (!isMailOrder(after)) return []
  return [
    ...findMailTypes(
      before.status,
      after.status,
      before.status === 'refunded' || before.cancelledFrom === 'refunded',
    ),
    ...(isIssued(change) && certificate === null ? (['certificate_ready'] as const) : []),
  ]
}

/** The money that a customer has paid for an order that ends, and that is not refunded. */
function findUnreturned({ before, after, payments }: OrderChange): CurrencyAmount | null {
  if (after.status !== 'cancelled' && after.status !== 'refunded') return null
  const held = payments.find((payment) => getBalance(payment) > 0)
  if (held !== undefined) return { currency: held.currency, amountMinor: getBalance(held) }
  const isRecorded = after.status === 'cancelled' && isPaid(before.status)
  const isRefunded = payments.some(({ refundedMinor }) => refundedMinor > 0)
  return isRecorded && !isRefunded && before.amountMinor > 0
    ? { currency: before.currency, amountMinor: before.amountMinor }
    : null
}

function sumByCurrency(amounts: readonly CurrencyAmount[]): CurrencyAmount[] {
  const sums = new Map<string, number>()
  for (const { currency, amountMinor } of amounts) {
    sums.set(currency, (sums.get(currency) ?? 0) + amountMinor)
  }
  return [...sums].map(([currency, amountMinor]) => ({ currency, amountMinor }))
}

/**
 * Finds the consequences of changes to orders. Pure.
 *
 * @param sendsMails whether a mail server is configured
 */
export function findConsequences(
  changes: readonly OrderChange[],
  sendsMails: boolean,
): Consequences {
  const mails = sendsMails ? changes.map((change) => ({ change, types: findMails(change) })) : []
  const emailed = mails.filter(({ types }) => types.length > 0)
  const unreturned = changes.map(findUnreturned).filter((amount) => amount !== null)
  return {
    mailTypes: [...new Set(mails.flatMap(({ types }) => types))],
    guests: new Set(emailed.map(({ change }) => change.after.customerEmail.toLowerCase())).size,
    issued: changes.filter(isIssued).length,
    withdrawn: changes.filter(isWithdrawn).length,
    unreturned: sumByCurrency(unreturned),
    unreturnedOrders: unreturned.length,
  }
}

interface DescribeOptions {
  /** About one order: its guest and its certificate need no number */
  isSingle: boolean
  /** How long the emails wait, ms */
  holdMs: number
  /** Whether the change can be undone */
  canUndo: boolean
  format: Formatters
}

const list = new Intl.ListFormat('en')

function describeHold({ isSingle, holdMs, canUndo }: DescribeOptions, mails: number): string {
  const isOne = isSingle && mails === 1
  if (holdMs === 0) return isOne ? 'The email is sent at once.' : 'Emails are sent at once.'
  const seconds = holdMs / 1000
  const delay = seconds === 1 ? 'a second' : `${seconds} seconds`
  const isSent = isOne ? 'The email is sent' : 'Emails are sent'
  const rest = isOne ? 'it is not sent' : 'they are not sent'
  return canUndo
    ? `${isSent} after ${delay}; undo before then and ${rest}.`
    : `${isSent} after ${delay}.`
}

/** Says what a change leads to; `null` if there is nothing to say. */
export function describeConsequences(
  consequences: Consequences,
  options: DescribeOptions,
): string | null {
  const { isSingle, format } = options
  const { mailTypes, guests, issued, withdrawn, unreturned, unreturnedOrders } = consequences
  const count = (number: number, noun: string) =>
    isSingle ? `the ${noun}` : number === 1 ? `1 ${noun}` : `${format.count(number)} ${noun}s`
  const amounts = list.format(
    unreturned.map(({ amountMinor, currency }) => format.money(amountMinor, currency)),
  )
  const titles = list.format(mailTypes.map((type) => `“${MAIL_TITLES[type]}”`))
  const parts = [
    ...(guests > 0 ? [`emails ${count(guests, 'guest')}${isSingle ? ` ${titles}` : ''}`] : []),
    ...(issued > 0 ? [`publishes ${count(issued, 'certificate')}`] : []),
    ...(withdrawn > 0 ? [`withdraws ${count(withdrawn, 'certificate')}`] : []),
    ...(unreturnedOrders > 0
      ? [
          `leaves ${amounts} paid and not refunded${isSingle ? '' : ` (${count(unreturnedOrders, 'order')})`}`,
        ]
      : []),
  ]
  if (parts.length === 0) return null
  const hold = guests > 0 ? ` ${describeHold(options, mailTypes.length)}` : ''
  return `This ${list.format(parts)}.${hold}`
}
