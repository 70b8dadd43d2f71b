import { formatMoney } from '../core/formatting/number-formatter.js'
import type { Order } from '../orders/order.js'
import { getBalance, isReceived, type Payment } from '../payments/payment.js'
import type { Headline } from './order-headline.js'

/**
 * Values of the order page's `payment` parameter, which Stripe's return links and our redirects
 * set.
 */
const RETURNS = ['done', 'stopped', 'unavailable', 'uncancelled'] as const
type PaymentReturn = (typeof RETURNS)[number]

export const toPaymentReturn = (value: unknown): PaymentReturn | null =>
  RETURNS.find((name) => name === value) ?? null

/** Problems to show before the state of the order */
const ALERTS: Partial<Record<PaymentReturn, string>> = {
  unavailable:
    'Payment is not possible at the moment. Your order is saved: try again in a few minutes, or contact us.',
  uncancelled:
    'The order could not be cancelled, because it may already have been paid. Try again in a few minutes.',
}

const HOSTED_BY_STRIPE =
  'You pay on a page hosted by Stripe, our payment provider. We never see your card details.'

/** The state of an order that the guest can pay. */
function buildUnpaidHeadline(payment: Payment | null, from: PaymentReturn | null): Headline {
  const hadPage = payment !== null && payment.sessionId !== null
  if (hadPage && payment.state === 'failed') {
    return {
      tone: 'problem',
      title: 'Your payment failed',
      explanation: 'No money was taken. Try again, or choose another way to pay.',
    }
  }
  if (hadPage && payment.state === 'expired') {
    return {
      tone: 'problem',
      title: 'The payment page has expired',
      explanation: 'No money was taken. Your order is saved: start the payment again.',
    }
  }
  if (from === 'stopped') {
    return {
      tone: 'waiting',
      title: 'You have not paid yet',
      explanation: 'Nothing has been charged. Your order is saved: you can pay or cancel it later.',
    }
  }
  return { tone: 'waiting', title: 'Waiting for your payment', explanation: HOSTED_BY_STRIPE }
}

export interface PaymentView {
  headline: Headline
  /** A problem to show first */
  alert: string | null
  canPay: boolean
  /** Whether the page asks Stripe when it refreshes itself */
  isChecking: boolean
}

/**
 * Builds what the order page shows of a payment through Stripe; `null` if the order is not pending.
 *
 * @param payment the latest payment of the order
 */
export function buildPaymentView(
  { status, amountMinor, currency }: Order,
  payment: Payment | null,
  from: PaymentReturn | null,
): PaymentView | null {
  if (status !== 'pending') return null
  const view = { alert: null, canPay: false, isChecking: false }
  if (payment?.state === 'processing') {
    const headline: Headline = {
      tone: 'progress',
      title: 'Thank you',
      isGreeting: true,
      titleEnd: 'Your payment is being processed.',
      explanation:
        'Your bank can take a few days. We will buy the carbon credits once we receive your payment. If Stripe gave you instructions to pay, such as a voucher or bank details, follow them.',
    }
    return { ...view, headline }
  }
  if (payment !== null && isReceived(payment)) {
    const amount = formatMoney(amountMinor, currency)
    const received = formatMoney(getBalance(payment), payment.currency)
    const headline: Headline = {
      tone: 'problem',
      title: 'We need to check your payment',
      explanation:
        received === amount
          ? `We have received ${received}. We will contact you.`
          : `We have received ${received}, but the order total is ${amount}. We will contact you.`,
    }
    return { ...view, headline }
  }
  if (from === 'done' && payment?.state === 'open') {
    const headline: Headline = {
      tone: 'progress',
      title: 'Checking your payment',
      explanation: 'This takes a few seconds. If you have not paid, you can pay now.',
    }
    return { ...view, headline, canPay: true, isChecking: true }
  }
  return {
    headline: buildUnpaidHeadline(payment, from),
    alert: (from && ALERTS[from]) ?? null,
    canPay: true,
    isChecking: false,
  }
}
