import { formatMoney } from '../core/formatting/money-formatter.js'
import {
  formatMass,
  formatRoundedMass,
  type PageFormat,
} from '../core/formatting/number-formatter.js'
import { findLatestAttempt, isUnresolved } from '../orders/attempt.js'
import { isErased } from '../orders/erase-order.js'
import { hasBeenPaid, isRefundDue, type OrderStatus } from '../orders/order-status.js'
import { describeOrderTrip, describeShare } from '../orders/order-trip.js'
import type { HistoryEntry, Order } from '../orders/order.js'
import { getBalance, isReceived, isSameAmount, type Payment } from '../payments/payment.js'

interface Step {
  label: string
  /** When the step was completed, formatted; `null` if it was not, or if the time is unknown */
  at: string | null
  state: 'done' | 'current' | 'upcoming'
}

interface Heading {
  title: string
  explanation: string
}

const RETIREMENT_PENDING: Heading = {
  title: 'Retirement pending',
  explanation:
    'Thank you. The carbon credits are ordered. You will get a certificate once they are retired.',
}

const HEADINGS: Record<OrderStatus, Heading> = {
  pending: {
    title: 'Waiting for your payment',
    explanation: 'We will buy the carbon credits once we receive your payment.',
  },
  paid: {
    title: 'Paid',
    explanation: 'Thank you. We are buying the carbon credits now.',
  },
  processing: RETIREMENT_PENDING,
  fulfilled: RETIREMENT_PENDING,
  refunded: {
    title: 'Refunded',
    explanation: 'Your payment has been refunded.',
  },
  cancelled: {
    title: 'Cancelled',
    explanation: 'This order was cancelled. There is nothing to pay.',
  },
}

/** What a guest reads first. */
function buildHeading(order: Order, { certificate, payment = null, format }: ViewOptions): Heading {
  if (certificate !== null) {
    const mass = formatRoundedMass(certificate.co2eKg, format.numbers)
    return {
      title: 'Carbon credits retired',
      explanation: `Carbon credits for ${mass} of CO₂e have been retired for you. Thank you.`,
    }
  }
  const heading = HEADINGS[order.status]
  if (order.status !== 'cancelled' && order.status !== 'refunded') return heading
  if (awaitsRefund(order, payment)) {
    return {
      title: order.status === 'cancelled' ? heading.title : 'Refund in progress',
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
    ? { ...heading, explanation: 'This order was cancelled. Your payment has been refunded.' }
    : heading
}

/** Whether money that was received, or is on its way, will be returned. */
const awaitsRefund = (order: Order, payment: Payment | null): boolean =>
  payment?.dispute !== 'lost' && (isRefundDue(order) || (payment !== null && isReceived(payment)))

/** When an order first got a status, ISO 8601; `null` if that is not in the history. */
function findTime(history: readonly HistoryEntry[], status: OrderStatus) {
  const entry = history.findLast(({ changes }) =>
    changes.some(({ field, to }) => field === 'status' && to === status),
  )
  return entry?.at ?? null
}

/** Builds the steps of an order. A cancellation or refund is the last step. */
function buildSteps(
  order: Order,
  history: readonly HistoryEntry[],
  { certificate, payment = null, format: { time } }: ViewOptions,
): Step[] {
  const format = (timestamp: string | null) => (timestamp === null ? null : time(timestamp))
  const { status } = order
  const received: Step = { label: 'Order received', at: format(order.placedAt), state: 'done' }
  if (status === 'cancelled') {
    return [received, { label: 'Cancelled', at: format(order.cancelledAt), state: 'done' }]
  }
  const isPaid = hasBeenPaid(status)
  const paid: Step = {
    label: isPaid ? 'Payment received' : 'Payment',
    at: format(order.paidAt),
    state: isPaid ? 'done' : 'current',
  }
  if (status === 'refunded') {
    if (awaitsRefund(order, payment)) {
      return [received, paid, { label: 'Refund', at: null, state: 'current' }]
    }
    const at = format(findTime(history, 'refunded'))
    return [received, paid, { label: 'Payment refunded', at, state: 'done' }]
  }
  const isBought = status === 'fulfilled' || certificate !== null
  const bought: Step = {
    label: isBought ? 'Carbon credits bought' : 'Purchase of carbon credits',
    at: format(order.fulfilledAt),
    state: isBought ? 'done' : isPaid ? 'current' : 'upcoming',
  }
  if (order.checkout === null) return [received, paid, bought]
  const issued: Step = {
    label: certificate !== null ? 'Certificate issued' : isBought ? 'Retirement' : 'Certificate',
    at: format(certificate?.issuedAt ?? null),
    state: certificate !== null ? 'done' : isBought ? 'current' : 'upcoming',
  }
  return [received, paid, bought, issued]
}

/**
 * The parts of an order's amount; `null` if the amount, currency or CO₂e was changed later, or if no
 * guest placed the order.
 */
function buildParts({ checkout, amountMinor, currency, co2eKg }: Order, format: PageFormat) {
  if (checkout === null) return null
  const { offsetMinor, serviceFeeMinor, paidPerTonneMinor } = checkout
  const isAccepted =
    (checkout.currency ?? currency) === currency && (checkout.co2eKg ?? co2eKg) === co2eKg
  if (!isAccepted || offsetMinor + serviceFeeMinor !== amountMinor) return null
  return {
    mass: formatMass(co2eKg, format.numbers),
    perTonne: paidPerTonneMinor == null ? null : formatMoney(paidPerTonneMinor, currency),
    offset: formatMoney(offsetMinor, currency),
    serviceFee: serviceFeeMinor === 0 ? null : formatMoney(serviceFeeMinor, currency),
  }
}

interface ViewOptions {
  /** `null` if there is no valid certificate */
  certificate: {
    code: string
    issuedAt: string
    /** Mass of the carbon credits */
    co2eKg: number
    pdfProblem: string | null
  } | null
  /** As configured; `null` if there are none */
  paymentInstructions: string | null
  /** The latest payment through Stripe, if there is one */
  payment?: Payment | null
  /** Whether the page shows how to pay through Stripe */
  isOnline?: boolean
  format: PageFormat
}

/** What a guest sees of an order. Notes and other data for administrators are left out. */
export function buildOrderView(
  order: Order,
  history: readonly HistoryEntry[],
  options: ViewOptions,
) {
  const { certificate, paymentInstructions, payment = null } = options
  const { isOnline = false, format } = options
  const { checkout, status } = order
  return {
    orderNumber: order.orderNumber,
    status,
    /** Whether nothing more happens, unless staff change the order */
    isFinal:
      certificate !== null ||
      ((status === 'refunded' || status === 'cancelled') && !awaitsRefund(order, payment)),
    ...buildHeading(order, options),
    steps: buildSteps(order, history, options),
    certificate: certificate && {
      mass: formatRoundedMass(certificate.co2eKg, format.numbers),
      path: `/c/${certificate.code}`,
      pdfProblem: certificate.pdfProblem,
    },
    total: formatMoney(order.amountMinor, order.currency),
    parts: buildParts(order, format),
    mass: formatMass(order.co2eKg, format.numbers),
    share:
      checkout &&
      (checkout.co2eKg ?? order.co2eKg) === order.co2eKg &&
      describeShare(checkout, order.calculatorData?.guests, format.numbers),
    portfolio: checkout?.portfolioName ?? null,
    vessel: order.vesselName,
    imoNumber: order.imoNumber,
    trip: describeOrderTrip(order, format.numbers),
    isErased: isErased(order),
    customer: {
      name: order.customerName,
      email: order.customerEmail,
      company: checkout?.company ?? null,
      vatId: checkout?.vatId ?? null,
    },
    beneficiary: checkout?.beneficiary ?? null,
    isPublic: checkout?.isPublic ?? false,
    placedOn: format.time(order.placedAt),
    /** What was paid, if the total was changed later */
    paid:
      payment?.state === 'paid' && !isSameAmount(payment, order)
        ? formatMoney(payment.amountMinor, payment.currency)
        : null,
    refunded:
      payment === null || payment.refundedMinor === 0
        ? null
        : formatMoney(payment.refundedMinor, payment.currency),
    payment:
      status === 'pending' && !isOnline
        ? { instructions: paymentInstructions, reference: order.orderNumber }
        : null,
    canCancel: canGuestCancel(order, history) && (payment === null || !isReceived(payment)),
  }
}

/** Whether a guest may cancel an order: it is unpaid, and its credits are not bought, as far as known. */
export const canGuestCancel = (order: Order, history: readonly HistoryEntry[]): boolean =>
  order.status === 'pending' &&
  order.orderSourceId === null &&
  !isUnresolved(order, findLatestAttempt(history))

export type OrderView = ReturnType<typeof buildOrderView>
