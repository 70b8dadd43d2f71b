import type { Formatters } from '../core/formatting/portal-formatters.js'
import { METHOD_LABELS, PAYMENT_LABELS } from '../orders/labels.js'
import type { OrderStatus } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import { buildContextUrl, type ListContext } from '../orders/pages/list-context.js'
import type { BuiltSection, NextStep, OrderData } from '../orders/pages/order-extensions.js'
import {
  getBalance,
  getPaymentStatus,
  isDisputed,
  isSameAmount,
  type Payment,
  type PaymentStatus,
} from './payment.js'

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
  const total = format.money(order.amountMinor, order.currency)
  switch (payment.problem) {
    case 'differs': {
      const difference = !isSameAmount(payment, order)
        ? `but the order total is ${total}`
        : payment.refundedMinor > 0
          ? `of which ${refunded} was refunded`
          : 'but the order is not marked as paid'
      const text =
        'The order was not marked as paid. Refund the payment, or mark the order as paid if you accept it.'
      return [{ title: `${received} received, ${difference}`, text }]
    }
    case 'order_cancelled': {
      const text = 'Refund it, or reopen the order.'
      return [{ title: `${balance} received for a cancelled order`, text }]
    }
    case 'order_refunded': {
      const text =
        'The order is marked as refunded, but Stripe still has the money. Refund it, unless you have returned the money another way.'
      return [{ title: `${balance} is not refunded`, text }]
    }
    case 'paid_twice': {
      const title = `${balance} received for an order that had already been marked as paid`
      const text = 'Refund it only if the customer has also paid in another way.'
      return [{ title, text }]
    }
    default:
      return []
  }
}

const LOST_DISPUTE: Notice = {
  title: 'The dispute was lost',
  text: 'The bank has returned the money to the customer.',
}
const OPEN_DISPUTE: Notice = {
  title: 'The customer disputes the payment',
  text: 'Respond in the Stripe Dashboard before the deadline, or the money will be returned to the customer.',
}

const describeDispute = (payment: Payment): Notice[] => {
  if (!isDisputed(payment)) return []
  return [payment.dispute === 'lost' ? LOST_DISPUTE : OPEN_DISPUTE]
}

/** The first problem of the payments that needs attention; `undefined` if there is none. */
function findNextStep(payments: readonly PaymentView[]): NextStep | undefined {
  const [notice] = payments.flatMap(({ notices }) => notices)
  return (
    notice && {
      title: 'The payment needs attention',
      text: `${notice.title}.`,
      action: { type: 'review', href: '#payments' },
    }
  )
}

/**
 * Builds the section about an order's payments through Stripe; `null` if there are none.
 *
 * @param canRefund whether Stripe is configured
 */
export function buildPaymentSection(
  stored: readonly Payment[],
  { order, context, format }: OrderData,
  canRefund: boolean,
): BuiltSection | null {
  if (stored.length === 0) return null
  const payments = buildPaymentViews(stored, order, canRefund ? context : null, format)
  const nextStep = findNextStep(payments)
  return {
    view: payments,
    ...(nextStep && { nextStep }),
    ...(payments.some(({ refund }) => refund !== null) && { ownStatus: 'refunded' }),
  }
}

/** The payment status that each order status implies. */
const IMPLIED_PAYMENTS: Record<OrderStatus, PaymentStatus> = {
  pending: 'open',
  paid: 'paid',
  processing: 'paid',
  fulfilled: 'paid',
  refunded: 'refunded',
  cancelled: 'expired',
}

/** Describes a payment that differs from what the order status implies, such as a disputed one. */
export function describePayment(
  { checkout, status }: Order,
  payment: Payment | undefined,
): string | null {
  if (checkout === null || payment === undefined) return null
  const paid = getPaymentStatus(payment)
  const name = payment.problem !== null ? 'problem' : isDisputed(payment) ? 'disputed' : paid
  return name === IMPLIED_PAYMENTS[status]
    ? null
    : `${METHOD_LABELS[checkout.paymentMethod]}: ${PAYMENT_LABELS[name].toLowerCase()}`
}

/** The refund that a payment still permits; `null` if none. */
export function buildRefund(payment: Payment, context: ListContext, format: Formatters) {
  const balance = getBalance(payment)
  if (balance === 0) return null
  const path = `/admin/orders/${payment.orderId}/refund`
  return {
    url: buildContextUrl(context, path, { payment: payment.id }),
    amountMinor: balance,
    amount: format.money(balance, payment.currency),
  }
}

/**
 * Builds the view of an order's Stripe payments, latest first.
 *
 * @param context of the pages that refund payments; `null` if Stripe is not configured
 */
function buildPaymentViews(
  payments: readonly Payment[],
  order: Order,
  context: ListContext | null,
  format: Formatters,
) {
  return payments.map((payment) => {
    const status = getPaymentStatus(payment)
    return {
      id: payment.id,
      status,
      statusLabel: PAYMENT_LABELS[status],
      statusClass: STATUS_CLASSES[status],
      amount: format.money(payment.amountMinor, payment.currency),
      refunded:
        payment.refundedMinor === 0 ? null : format.money(payment.refundedMinor, payment.currency),
      dispute: payment.dispute?.replaceAll('_', ' ') ?? null,
      sessionId: payment.sessionId,
      intentId: payment.intentId,
      at: new Date(payment.createdAt).toISOString(),
      dateTime: format.dateTime(new Date(payment.createdAt).toISOString()),
      notices: [...describeProblem(payment, order, format), ...describeDispute(payment)],
      refund: context && buildRefund(payment, context, format),
    }
  })
}

type PaymentView = ReturnType<typeof buildPaymentViews>[number]
