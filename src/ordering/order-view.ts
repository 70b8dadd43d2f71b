import type { OrderStatus } from '../orders/order-status.js'
import { isErased } from '../orders/erasure.js'
import type { HistoryEntry, Order } from '../orders/order.js'
import { describeOrderTrip } from './describe-order-trip.js'
import { describeShare } from './describe-share.js'
import { getBalance, isReceived, type Payment } from '../payments/payment.js'
import { formatMass, type PageFormat } from './order-form-view.js'

interface Step {
  label: string
  /** When the step was completed, formatted; `null` if it was not, or if the time is unknown */
  at: string | null
  state: 'done' | 'current' | 'upcoming'
}

const PAID: readonly OrderStatus[] = ['paid', 'processing', 'fulfilled', 'refunded']

const STATUSES: Record<OrderStatus, { title: string; explanation: string }> = {
  pending: {
    title: 'Waiting for your payment',
    explanation: 'We will buy the offset once we receive your payment.',
  },
  paid: {
    title: 'Paid',
    explanation: 'Thank you. We are buying the offset now.',
  },
  processing: {
    title: 'Being offset',
    explanation: 'We have received your payment and ordered the offset.',
  },
  fulfilled: {
    title: 'Offset',
    explanation: 'Your trip’s emissions have been offset. Thank you.',
  },
  refunded: {
    title: 'Refunded',
    explanation: 'Your payment has been refunded.',
  },
  cancelled: {
    title: 'Cancelled',
    explanation: 'This order was cancelled. There is nothing to pay.',
  },
}

/**
 * When an order first got one of these statuses, ISO 8601; `null` if that is not in the history.
 */
function findTime(history: readonly HistoryEntry[], statuses: readonly OrderStatus[]) {
  const entry = history.findLast(({ changes }) =>
    changes.some(({ field, to }) => field === 'status' && statuses.some((one) => one === to)),
  )
  return entry?.at ?? null
}

/** Builds the steps of an order. A cancellation or refund is the last step. */
function buildSteps(
  order: Order,
  history: readonly HistoryEntry[],
  { certificate, formatDate }: Pick<ViewOptions, 'certificate' | 'formatDate'>,
): Step[] {
  const format = (timestamp: string | null) => (timestamp === null ? null : formatDate(timestamp))
  const { status } = order
  const received: Step = { label: 'Order received', at: format(order.placedAt), state: 'done' }
  if (status === 'cancelled') {
    return [received, { label: 'Cancelled', at: format(order.cancelledAt), state: 'done' }]
  }
  const isPaid = PAID.includes(status)
  const paid: Step = {
    label: isPaid ? 'Payment received' : 'Payment',
    at: isPaid ? format(findTime(history, PAID)) : null,
    state: isPaid ? 'done' : 'current',
  }
  if (status === 'refunded') {
    const at = format(findTime(history, ['refunded']))
    return [received, paid, { label: 'Payment refunded', at, state: 'done' }]
  }
  const isOffset = status === 'fulfilled'
  const offset: Step = {
    label: isOffset ? 'Emissions offset' : 'Offset',
    at: format(order.fulfilledAt),
    state: isOffset ? 'done' : isPaid ? 'current' : 'upcoming',
  }
  if (order.checkout === null) return [received, paid, offset]
  const issued: Step = {
    label: certificate === null ? 'Certificate' : 'Certificate issued',
    at: format(certificate?.issuedAt ?? null),
    state: certificate !== null ? 'done' : isOffset ? 'current' : 'upcoming',
  }
  return [received, paid, offset, issued]
}

/**
 * The parts of an order's amount; `null` if the amount or currency was changed later, or if no guest placed the
 * order.
 */
function buildParts({ checkout, amountMinor, currency, co2eKg }: Order, format: PageFormat) {
  if (checkout === null) return null
  const { offsetMinor, serviceFeeMinor, paidPerTonneMinor } = checkout
  const isAccepted = (checkout.currency ?? currency) === currency
  if (!isAccepted || offsetMinor + serviceFeeMinor !== amountMinor) return null
  return {
    mass: formatMass(co2eKg, format.numbers),
    perTonne: paidPerTonneMinor == null ? null : format.money(paidPerTonneMinor, currency),
    offset: format.money(offsetMinor, currency),
    serviceFee: serviceFeeMinor === 0 ? null : format.money(serviceFeeMinor, currency),
  }
}

interface ViewOptions {
  /** `null` if there is no valid certificate */
  certificate: { code: string; issuedAt: string; pdfProblem: string | null } | null
  /** As configured; `null` if there are none */
  paymentInstructions: string | null
  /** The latest payment through Stripe, if there is one */
  payment?: Payment | null
  /** Whether the page shows how to pay through Stripe */
  isOnline?: boolean
  format: PageFormat
  formatDate: (timestamp: string) => string
}

/** What a guest sees of an order. Notes and other data for administrators are left out. */
export function buildOrderView(
  order: Order,
  history: readonly HistoryEntry[],
  {
    certificate,
    paymentInstructions,
    payment = null,
    isOnline = false,
    format,
    formatDate,
  }: ViewOptions,
) {
  const { checkout, status } = order
  return {
    orderNumber: order.orderNumber,
    status,
    ...STATUSES[status],
    ...(status === 'cancelled' && payment !== null && getBalance(payment) > 0
      ? {
          explanation:
            'This order was cancelled. We have received your payment and will refund it.',
        }
      : {}),
    steps: buildSteps(order, history, { certificate, formatDate }),
    certificate: certificate && {
      path: `/c/${certificate.code}`,
      pdfProblem: certificate.pdfProblem,
    },
    total: format.money(order.amountMinor, order.currency),
    parts: buildParts(order, format),
    mass: formatMass(order.co2eKg, format.numbers),
    share: checkout && describeShare(checkout, order.calculatorData?.guests, format.numbers),
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
    placedOn: formatDate(order.placedAt),
    refunded:
      payment === null || payment.refundedMinor === 0
        ? null
        : format.money(payment.refundedMinor, payment.currency),
    payment:
      status === 'pending' && !isOnline
        ? { instructions: paymentInstructions, reference: order.orderNumber }
        : null,
    canCancel: status === 'pending' && (payment === null || !isReceived(payment)),
  }
}

export type OrderView = ReturnType<typeof buildOrderView>
