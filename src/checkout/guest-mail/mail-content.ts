import type { Brand } from '../../core/html/brand.js'
import { isPaid, type OrderStatus } from '../../orders/order-status.js'
import type { GuestOrderView } from '../guest-order-view.js'
import type { MailType } from './guest-mail-types.js'

interface Opening {
  /** The subject, and the heading unless there is another one */
  title: string
  heading?: string
  /** Whether the guest’s name follows the heading */
  isGreeting?: boolean
  /** Whether the email brings good news, and a picture */
  hasPicture?: boolean
  paragraphs: string[]
  /** Label of the button */
  link: string
}

/** Amounts of payments through Stripe, formatted; `null` if there are none. */
export interface MailAmounts {
  received: string | null
  refunded: string | null
}

/** Whether the button opens the guest's own PDF, because the certificate's page shows no names. */
export const linksToPdf = ({ certificate, isPublic }: GuestOrderView): boolean =>
  certificate?.pdfProblem === null && !isPublic

const describeNext = (status: OrderStatus): string =>
  `You can follow your order on its page.${isPaid(status) ? ' You will get a certificate once carbon credits have been retired for you.' : ''}`

const OPENINGS: Record<MailType, (order: GuestOrderView, amounts: MailAmounts) => Opening> = {
  order_received: ({ orderNumber, status }) => ({
    title: `Order ${orderNumber} received`,
    heading: 'Thank you for your order',
    hasPicture: true,
    paragraphs: [
      status === 'pending'
        ? 'We will buy the carbon credits once we receive your payment.'
        : describeNext(status),
    ],
    link: 'View your order',
  }),
  payment_received: ({ orderNumber, status, total }, { received }) => ({
    title: `Payment received for order ${orderNumber}`,
    heading: 'Thank you',
    isGreeting: true,
    hasPicture: true,
    paragraphs: [`We have received your payment of ${received ?? total}.`, describeNext(status)],
    link: 'View your order',
  }),
  payment_reminder: ({ orderNumber, total, payment }) => ({
    title: `Payment reminder for order ${orderNumber}`,
    heading: 'Your payment is due',
    paragraphs: [
      `Your payment of ${total} was due on ${payment?.dueOn ?? ''}, and we have not received it yet. We will buy the carbon credits once it arrives.`,
      'If you have paid in the last few days, thank you: there is nothing more to do. If you no longer want the credits, cancel the order on its page.',
    ],
    link: 'View your order',
  }),
  certificate_ready: (order) => ({
    title: `Your certificate for order ${order.orderNumber}`,
    heading: 'Your certificate is ready',
    isGreeting: true,
    hasPicture: true,
    paragraphs: [
      `Carbon credits for ${order.certificate?.mass ?? `${order.mass} of CO₂e`} have been retired for you. Thank you.`,
    ],
    link: linksToPdf(order) ? 'Open certificate (PDF)' : 'View your certificate',
  }),
  order_cancelled: ({ orderNumber, hasReceipt }, { received }) => ({
    title: `Order ${orderNumber} was cancelled`,
    heading: 'Your order is cancelled',
    paragraphs: [
      hasReceipt || received !== null
        ? 'We have received your payment and will refund it.'
        : 'There is nothing to pay. A payment that is already on its way will be refunded.',
    ],
    link: 'View your order',
  }),
  order_refunded: ({ orderNumber, total }, { refunded }) => ({
    title: `Order ${orderNumber} was refunded`,
    heading: 'Your payment was refunded',
    paragraphs: [
      `We have refunded your payment of ${refunded ?? total}. It can take a few days to reach your account.`,
    ],
    link: 'View your order',
  }),
}

/** Emails about orders that may never be paid. */
const UNPROVEN: readonly MailType[] = ['order_received', 'payment_reminder', 'order_cancelled']

/** Emails that say how to pay. */
const UNPAID: readonly MailType[] = ['order_received', 'payment_reminder']

interface Row {
  label: string
  value: string
}

const toRow = (label: string, value: string | null): Row[] =>
  value === null ? [] : [{ label, value }]

const toLine = ({ label, value }: Row): string => `${label}: ${value}`

/** What a guest typed, or put into a QR code. */
const buildTypedRows = ({ customer, vessel, imoNumber, beneficiary }: GuestOrderView): Row[] => [
  ...toRow('Vessel', vessel && imoNumber ? `${vessel}, IMO ${imoNumber}` : vessel),
  ...toRow('Name', customer.name),
  ...toRow('Company', customer.company),
  ...toRow('VAT ID', customer.vatId),
  ...toRow('Name on the certificate', beneficiary),
]

function buildReceipt({ parts }: GuestOrderView): Row[] {
  if (parts === null) return []
  const { mass, offset, serviceFee } = parts
  return [
    ...toRow(`Carbon credits for ${mass} of CO₂e`, offset),
    ...toRow('Service fee', serviceFee),
  ]
}

/** How to pay by invoice; other payments are made on the order's page. */
function buildPayment({ payment, total }: GuestOrderView, method: string) {
  if (payment === null || method !== 'invoice') return null
  const { account, instructions, dueOn, reference } = payment
  const rows = account
    ? [
        ...toRow('Account name', account.name),
        ...toRow('IBAN', account.printedIban),
        ...toRow('BIC', account.bic),
      ]
    : []
  const lines = [
    ...rows.map(toLine),
    ...(instructions?.split('\n') ?? (account ? [] : ['You will receive an invoice.'])),
    toLine({ label: 'Due date', value: dueOn }),
  ]
  return { total, lines, reference }
}

/**
 * Builds the content of an email, for its text and HTML parts. Excludes what the guest typed until
 * the order is paid, because otherwise anyone could send their own text to any address.
 *
 * @param paymentMethod of the order's checkout
 */
export function buildMailContent(
  type: MailType,
  order: GuestOrderView,
  paymentMethod: string,
  amounts: MailAmounts,
) {
  const { share, mass } = order
  const { perTonne = null, serviceFee = null } = order.parts ?? {}
  const isUnpaid = UNPAID.includes(type) && order.payment !== null
  const payment = isUnpaid ? buildPayment(order, paymentMethod) : null
  const { heading, hasPicture = false, ...opening } = OPENINGS[type](order, amounts)
  const { isGreeting = false } = opening
  return {
    ...opening,
    heading: heading ?? opening.title,
    isGreeting,
    name: isGreeting && !UNPROVEN.includes(type) ? order.firstName : null,
    hasPicture,
    link: isUnpaid && payment === null ? 'View your order and pay' : opening.link,
    payment,
    receiptTitle: order.hasReceipt ? 'Receipt' : 'Order summary',
    receipt: buildReceipt(order),
    total: type === 'order_cancelled' && !order.hasReceipt ? 'Nothing to pay' : order.total,
    details: [
      ...toRow('Order', order.orderNumber),
      ...toRow('Ordered', order.placedOn),
      ...toRow('Payment received', order.paidOn),
      ...toRow('Trip', order.trip),
      ...toRow('Carbon credits for', share === null ? mass : `${mass}, ${share}`),
      ...toRow(
        'Price per tonne',
        perTonne && (serviceFee ? `${perTonne}, including fees` : perTonne),
      ),
      ...toRow('Portfolio', order.portfolio),
      ...(UNPROVEN.includes(type) ? [] : buildTypedRows(order)),
    ],
  }
}

type MailContent = ReturnType<typeof buildMailContent>

/**
 * Writes the plain text of an email; its HTML is in templates/mail.
 *
 * @param links `url` is where the button leads; `shareUrl` is the certificate's page if it leads to
 *   the PDF
 */
export function formatMailText(
  content: MailContent,
  { url, orderUrl, shareUrl }: { url: string; orderUrl: string; shareUrl: string | null },
  { name: brandName, contactUrl }: Brand,
): string {
  const { heading, name, isGreeting, paragraphs, payment, link, receipt, total, details } = content
  const blocks = [
    [`${heading}${name === null ? '' : `, ${name}`}${isGreeting ? '.' : ''}`],
    ...paragraphs.map((paragraph) => [paragraph]),
    payment === null
      ? []
      : [
          `How to pay ${payment.total}:`,
          ...payment.lines,
          toLine({ label: 'Payment reference', value: payment.reference }),
        ],
    [`${link}:`, url],
    shareUrl === null ? [] : ['Link for sharing, which shows no names:', shareUrl],
    url === orderUrl ? [] : ['Your order:', orderUrl],
    [content.receiptTitle, ...[...receipt, { label: 'Total', value: total }].map(toLine)],
    details.map(toLine),
    [
      'Anyone who has the link in this email can see the order. You received this email because your address was given for this order.',
    ],
    contactUrl === null ? [] : [`Questions? ${contactUrl.replace('mailto:', '')}`],
    ['-- ', brandName],
  ]
  const texts = blocks.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'))
  return `${texts.join('\n\n')}\n`
}
