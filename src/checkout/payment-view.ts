import { formatMoney } from '../core/formatting/money-formatter.js'
import type { Order } from '../orders/order.js'
import { getBalance, isReceived, type Payment } from '../payments/payment.js'

/**
 * Values of the order page's `payment` parameter, which Stripe's return links and our redirects
 * set.
 */
const RETURNS = ['done', 'stopped', 'unavailable', 'uncancelled'] as const
type PaymentReturn = (typeof RETURNS)[number]

export const toPaymentReturn = (value: unknown): PaymentReturn | null =>
  RETURNS.find((name) => name === value) ?? null

const ALERTS: Partial<Record<PaymentReturn, string>> = {
  unavailable:
    'Payment is not possible at the moment. Your order is saved: try again in a few minutes, or contact us.',
  uncancelled:
    'The order could not be cancelled, because it may already have been paid. Try again in a few minutes.',
}

/** Describes the outcome of the last attempt to pay, if the guest can try again. */
function describeLast(payment: Payment | null, from: PaymentReturn | null): string | null {
  if (from !== null && ALERTS[from] !== undefined) return ALERTS[from]
  if (payment?.state === 'failed' && payment.sessionId !== null) {
    return 'The payment failed, and no money was taken. Try again, or choose another way to pay.'
  }
  if (payment?.state === 'expired' && payment.sessionId !== null) {
    return 'The payment page has expired, and no money was taken. Start again.'
  }
  return from === 'stopped' ? 'You have not paid yet.' : null
}

/**
 * Builds the Stripe section of the order page; `null` if the order is not pending.
 *
 * @param payment the latest payment of the order
 */
export function buildPaymentView(
  { status, amountMinor, currency }: Order,
  payment: Payment | null,
  from: PaymentReturn | null,
) {
  if (status !== 'pending') return null
  const amount = formatMoney(amountMinor, currency)
  /** `isChecking`: the page should reload soon; `alert`: a problem to show first */
  const view = { alert: null, canPay: false, isChecking: false }
  if (payment?.state === 'processing') {
    return {
      ...view,
      title: 'Your payment is being processed',
      text: 'Your bank can take a few days. We will buy the carbon credits once we receive your payment. If Stripe gave you instructions to pay, such as a voucher or bank details, follow them.',
    }
  }
  if (payment !== null && isReceived(payment)) {
    const received = formatMoney(getBalance(payment), payment.currency)
    return {
      ...view,
      title: 'We need to check your payment',
      text:
        received === amount
          ? `We have received ${received}. We will contact you.`
          : `We have received ${received}, but the order total is ${amount}. We will contact you.`,
    }
  }
  if (from === 'done' && payment?.state === 'open') {
    return {
      ...view,
      title: 'Checking your payment',
      text: 'This takes a few seconds. If you have not paid, you can pay now.',
      canPay: true,
      isChecking: true,
    }
  }
  return {
    title: `Pay ${amount}`,
    text: 'You pay on a page hosted by Stripe, our payment provider. We never see your card details.',
    alert: describeLast(payment, from),
    canPay: true,
    isChecking: false,
  }
}
