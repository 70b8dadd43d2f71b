import { createDrawing, renderDrawingSvg } from '../certificates/certificate-drawing.js'
import { getCertificateNumber, type Certificate } from '../certificates/certificate.js'
import { describeClaim } from '../certificates/describe-certificate.js'
import {
  formatMass,
  formatMoney,
  formatRoundedMass,
  type PageFormat,
} from '../core/formatting/number-formatter.js'
import { MINUTE_MS } from '../core/time.js'
import { canGuestCancel } from '../orders/attempt.js'
import { isErased } from '../orders/erase-order.js'
import { hasBeenPaid, isPaid, type OrderStatus } from '../orders/order-status.js'
import { describeOrderTrip, describeShare } from '../orders/order-trip.js'
import type { HistoryEntry, Order } from '../orders/order.js'
import { isReceived, isSameAmount, type Payment } from '../payments/payment.js'
import type { BankTransfer } from './bank-transfer/bank-transfer.js'
import { awaitsRefund, buildHeadline } from './order-headline.js'
import type { PaymentView } from './payment-view.js'

/** First words that are not a given name */
const NOT_A_NAME = /^(?:an?|the|mrs?|ms|miss|dr|prof|capt|captain|sir|herr|frau|sra?|mme|mlle)$/i

/** Scripts of languages that mostly write the given name first. */
const GIVEN_NAME = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{M}'’-]{2,20}$/u

/** The name to greet a person by; `null` if it is uncertain or too long for a headline. */
export function getFirstName(name: string): string | null {
  const [first = ''] = name.trim().split(/\s+/)
  return GIVEN_NAME.test(first) && !NOT_A_NAME.test(first) ? first : null
}

interface Step {
  label: string
  /** When the step was completed, formatted; `null` if it was not, or if the time is unknown */
  at: string | null
  state: 'done' | 'current' | 'upcoming'
  /** Of the current step, instead of a time */
  note?: string
}

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
  const received: Step = { label: 'Ordered', at: format(order.placedAt), state: 'done' }
  if (status === 'cancelled') {
    return [received, { label: 'Cancelled', at: format(order.cancelledAt), state: 'done' }]
  }
  const wasPaid = hasBeenPaid(status)
  const paid: Step = {
    label: 'Paid',
    note: 'Not yet',
    at: format(order.paidAt),
    state: wasPaid ? 'done' : 'current',
  }
  if (status === 'refunded') {
    if (awaitsRefund(order, payment)) {
      return [received, paid, { label: 'Refunded', at: null, state: 'current' }]
    }
    const at = format(findTime(history, 'refunded'))
    return [received, paid, { label: 'Refunded', at, state: 'done' }]
  }
  const isBought = status === 'fulfilled' || certificate !== null
  const bought: Step = {
    label: 'Credits bought',
    at: format(order.fulfilledAt),
    state: isBought ? 'done' : wasPaid ? 'current' : 'upcoming',
  }
  if (order.checkout === null) return [received, paid, bought]
  const issued: Step = {
    label: 'Credits retired, certificate issued',
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
    mass: formatRoundedMass(co2eKg, format.numbers),
    perTonne: paidPerTonneMinor == null ? null : formatMoney(paidPerTonneMinor, currency),
    offset: formatMoney(offsetMinor, currency),
    serviceFee: serviceFeeMinor === 0 ? null : formatMoney(serviceFeeMinor, currency),
  }
}

interface ViewOptions {
  /** `null` if there is no valid certificate */
  certificate: Certificate | null
  /** Why the certificate has no PDF */
  pdfProblem?: string | null
  /** How to pay, unless the guest pays through Stripe */
  bankTransfer: BankTransfer
  /** The latest payment through Stripe, if there is one */
  payment?: Payment | null
  /** What the page shows of an unpaid order that is paid through Stripe */
  online?: PaymentView | null
  /** Whether the service sends emails */
  hasMail?: boolean
  format: PageFormat
}

/** Whether a certificate was issued a moment ago, and is celebrated. */
const isNew = ({ issuedAt }: Certificate): boolean =>
  Date.now() - Date.parse(issuedAt) < 5 * MINUTE_MS

/** The guest’s own certificate, which also shows what is not published. */
function buildCertificateView(
  certificate: Certificate,
  pdfProblem: string | null,
  format: PageFormat,
) {
  const { code, content } = certificate
  return {
    path: `/c/${code}`,
    number: getCertificateNumber(certificate),
    ...describeClaim(content, format.numbers),
    isNew: isNew(certificate),
    drawing: renderDrawingSvg(createDrawing(content.projects)),
    pdfProblem,
  }
}

/** What a guest sees of an order. Notes and other data for administrators are left out. */
export function buildGuestOrderView(
  order: Order,
  history: readonly HistoryEntry[],
  options: ViewOptions,
) {
  const { certificate, pdfProblem = null, bankTransfer, payment = null } = options
  const { online = null, hasMail = false, format } = options
  const { checkout, status } = order
  /** `null` if it was erased, or may not be a name */
  const firstName = isErased(order) ? null : getFirstName(order.customerName)
  const headline = online?.headline ?? buildHeadline(order, { certificate, payment, format })
  return {
    orderNumber: order.orderNumber,
    status,
    /** Whether nothing more happens, unless staff change the order */
    isFinal:
      certificate !== null ||
      ((status === 'refunded' || status === 'cancelled') && !awaitsRefund(order, payment)),
    headline: { ...headline, name: headline.isGreeting ? firstName : null },
    /** Whether the certificate is emailed, now or later */
    isMailed:
      hasMail && isPaid(status) && !isErased(order) && (certificate === null || isNew(certificate)),
    firstName,
    steps: buildSteps(order, history, options),
    certificate: certificate && buildCertificateView(certificate, pdfProblem, format),
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
    hasReceipt: hasBeenPaid(status) || order.paidAt !== null,
    paidOn: order.paidAt && format.time(order.paidAt),
    isPaidOnline: payment?.state === 'paid',
    /** What was paid, if the total was changed later */
    paid:
      payment?.state === 'paid' && !isSameAmount(payment, order)
        ? formatMoney(payment.amountMinor, payment.currency)
        : null,
    refunded:
      payment === null || payment.refundedMinor === 0
        ? null
        : formatMoney(payment.refundedMinor, payment.currency),
    payment: status === 'pending' && online === null ? bankTransfer : null,
    canCancel: canGuestCancel(order, history) && (payment === null || !isReceived(payment)),
  }
}

export type GuestOrderView = ReturnType<typeof buildGuestOrderView>
