import {
  getBalance,
  getPaymentStatus,
  isDisputed,
  isSameAmount,
  type Payment,
  type PaymentStatus,
} from '../../payments/payment.js'
import type { Order } from '../../orders/order.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { PAYMENT_LABELS } from '../../orders/labels.js'

/** Payments use the colours of order statuses. */
const STATUS_CLASSES: Record<PaymentStatus, string> = {
  open: 'pending',
  processing: 'processing',
  paid: 'paid',
  partially_refunded: 'refunded',
  refunded: 'refunded',
  failed: 'cancelled',
  expired: 'cancelled',
}

interface Notice {
  title: string
  text: string
}

/** Describes problems with a payment, and what to do. */
function describeProblem(payment: Payment, order: Order, format: Formatters): Notice[] {
  const received = format.money(payment.amountMinor, payment.currency)
  const balance = format.money(getBalance(payment), payment.currency)
  const refunded = format.money(payment.refundedMinor, payment.currency)
  switch (payment.problem) {
    case 'differs':
      return [
        {
          title: isSameAmount(payment, order)
            ? payment.refundedMinor > 0
              ? `${received} received, of which ${refunded} was refunded`
              : `${received} received, but the order is not marked as paid`
            : `${received} received, but the order total is ${format.money(order.amountMinor, order.currency)}`,
          text: 'The order was not marked as paid. Refund the payment, or mark the order as paid if you accept it.',
        },
      ]
    case 'order_cancelled':
      return [
        {
          title: `${balance} received for a cancelled order`,
          text: 'Refund it, or reopen the order.',
        },
      ]
    case 'order_refunded':
      return [
        {
          title: `${balance} is not refunded`,
          text: 'The order is marked as refunded, but Stripe still has the money. Refund it, unless you have returned the money another way.',
        },
      ]
    case 'paid_twice':
      return [
        {
          title: `${balance} received for an order that had already been paid`,
          text: 'Refund it if the customer has paid twice.',
        },
      ]
    default:
      return []
  }
}

const describeDispute = (payment: Payment): Notice[] =>
  isDisputed(payment)
    ? [
        {
          title:
            payment.dispute === 'lost'
              ? 'The dispute was lost'
              : 'The customer disputes the payment',
          text:
            payment.dispute === 'lost'
              ? 'The bank has returned the money to the customer.'
              : 'Respond in the Stripe Dashboard before the deadline, or the money will be returned to the customer.',
        },
      ]
    : []

const formatDispute = (dispute: string): string => dispute.replaceAll('_', ' ')

/**
 * Builds the view of an order's Stripe payments, latest first.
 *
 * @param getRefundUrl returns the page that refunds a payment; `null` if Stripe is not configured
 */
export function buildPaymentViews(
  payments: readonly Payment[],
  order: Order,
  getRefundUrl: ((paymentId: string) => string) | null,
  format: Formatters,
) {
  return payments.map((payment) => {
    const status = getPaymentStatus(payment)
    const balance = getBalance(payment)
    return {
      id: payment.id,
      status,
      statusLabel: PAYMENT_LABELS[status],
      statusClass: STATUS_CLASSES[status],
      amount: format.money(payment.amountMinor, payment.currency),
      refunded:
        payment.refundedMinor === 0 ? null : format.money(payment.refundedMinor, payment.currency),
      dispute: payment.dispute === null ? null : formatDispute(payment.dispute),
      sessionId: payment.sessionId,
      intentId: payment.intentId,
      at: new Date(payment.createdAt).toISOString(),
      dateTime: format.dateTime(new Date(payment.createdAt).toISOString()),
      notices: [...describeProblem(payment, order, format), ...describeDispute(payment)],
      refund:
        balance > 0 && getRefundUrl !== null
          ? {
              url: getRefundUrl(payment.id),
              amountMinor: balance,
              amount: format.money(balance, payment.currency),
            }
          : null,
    }
  })
}

export type PaymentView = ReturnType<typeof buildPaymentViews>[number]
