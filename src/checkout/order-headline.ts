import {
  formatMoney,
  formatRoundedMass,
  type PageFormat,
} from '../core/formatting/number-formatter.js'
import { isRefundDue, type OrderStatus } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import { getBalance, isReceived, type Payment } from '../payments/payment.js'

/** The state of an order in words: what a guest reads first. */
export interface Headline {
  /** Chooses the drawing and the colours */
  tone: 'waiting' | 'progress' | 'done' | 'stopped' | 'problem'
  title: string
  /** Whether the guest’s name follows the title */
  isGreeting?: boolean
  /** A second sentence of the title */
  titleEnd?: string
  explanation: string
}

const BEING_BOUGHT: Headline = {
  tone: 'progress',
  title: 'Thank you',
  isGreeting: true,
  titleEnd: 'Your credits are being bought.',
  explanation:
    'We have received your payment. You will get a certificate once the carbon credits are retired.',
}

const RETIREMENT_PENDING =
  'Retirement pending: the carbon credits are ordered. You will get a certificate once they are retired.'

const HEADLINES: Record<OrderStatus, Headline> = {
  pending: {
    tone: 'waiting',
    title: 'Waiting for your payment',
    explanation: 'Thank you for your order. We will buy the carbon credits once you have paid.',
  },
  paid: BEING_BOUGHT,
  processing: { ...BEING_BOUGHT, explanation: RETIREMENT_PENDING },
  fulfilled: {
    ...BEING_BOUGHT,
    titleEnd: 'Your credits are being retired.',
    explanation: RETIREMENT_PENDING,
  },
  refunded: {
    tone: 'stopped',
    title: 'Your payment was refunded',
    explanation: 'Your payment has been refunded. It can take a few days to reach your account.',
  },
  cancelled: {
    tone: 'stopped',
    title: 'Your order is cancelled',
    explanation: 'This order was cancelled. There is nothing to pay.',
  },
}

const BANK_TRANSFER: Headline = {
  tone: 'waiting',
  title: 'Waiting for your bank transfer',
  explanation:
    'Thank you for your order. We will buy the carbon credits once we receive your payment.',
}

/** Whether money that was received, or is on its way, will be returned. */
export const awaitsRefund = (order: Order, payment: Payment | null): boolean =>
  payment?.dispute !== 'lost' && (isRefundDue(order) || (payment !== null && isReceived(payment)))

function buildRefundHeadline(order: Order, payment: Payment | null): Headline {
  const headline = HEADLINES[order.status]
  if (awaitsRefund(order, payment)) {
    return {
      ...headline,
      title: order.status === 'cancelled' ? headline.title : 'Your refund is in progress',
      explanation:
        payment?.state === 'processing'
          ? 'This order was cancelled. Your payment is on its way, and we will refund it when we receive it.'
          : 'This order was cancelled. We have received your payment and will refund it.',
    }
  }
  const isRefunded =
    order.cancelledFrom === 'refunded' ||
    (payment !== null && payment.refundedMinor > 0 && getBalance(payment) === 0)
  return order.status === 'cancelled' && isRefunded
    ? { ...headline, explanation: 'This order was cancelled. Your payment has been refunded.' }
    : headline
}

interface HeadlineOptions {
  /** `null` if there is no valid certificate */
  certificate: { content: { co2eKg: number } } | null
  /** The latest payment through Stripe, if there is one */
  payment: Payment | null
  format: PageFormat
}

/** Describes the state of an order; that of an unpaid Stripe order is in payment-view.ts. */
export function buildHeadline(
  order: Order,
  { certificate, payment, format }: HeadlineOptions,
): Headline {
  if (certificate !== null) {
    const mass = formatRoundedMass(certificate.content.co2eKg, format.numbers)
    return {
      tone: 'done',
      title: 'Your certificate is ready',
      isGreeting: true,
      explanation: `Carbon credits for ${mass} of CO₂e have been retired for you. Thank you.`,
    }
  }
  if (order.status === 'pending') {
    return order.checkout?.paymentMethod === 'invoice' ? BANK_TRANSFER : HEADLINES.pending
  }
  if (order.status === 'cancelled' || order.status === 'refunded') {
    return buildRefundHeadline(order, payment)
  }
  if (payment !== null && payment.refundedMinor > 0 && getBalance(payment) > 0) {
    const { amountMinor, refundedMinor, currency } = payment
    return {
      tone: 'problem',
      title: 'Part of your payment was refunded',
      explanation: `We have refunded ${formatMoney(refundedMinor, currency)} of the ${formatMoney(amountMinor, currency)} that you paid. It can take a few days to reach your account.`,
    }
  }
  return HEADLINES[order.status]
}
