import type { FastifyPluginAsync } from 'fastify'
import { drawInWorker } from '../../certificates/certificate-pdf.js'
import { getRequestNumbers } from '../../core/http/locale.js'
import { requireGuestOrder } from '../guest-order-pages.js'
import { buildGuestOrderView, type GuestOrderView } from '../guest-order-view.js'
import { createBankTransfers, type BankTransfer } from './bank-transfer.js'
import type { PaymentRequest, PaymentRequestTask } from './draw-payment-request.js'

/** Drawing keeps a CPU core busy for a moment. */
const MAX_PER_MINUTE = 30

type Seller = PaymentRequest['seller']

function buildPaymentRequest(
  order: GuestOrderView,
  orderedAt: string,
  { account, instructions, dueOn, reference, epcPayload }: BankTransfer,
  seller: Seller,
): PaymentRequest {
  const { customer, parts, total, mass } = order
  const credits = `Carbon credits for ${parts?.mass ?? mass} of CO₂e`
  const listed = [
    ...[customer.name, customer.company],
    customer.vatId === null ? null : `VAT ID ${customer.vatId}`,
    customer.email,
  ]
  const rows = [
    { label: 'Account name', value: account?.name },
    { label: 'IBAN', value: account?.printedIban },
    { label: 'BIC', value: account?.bic },
    { label: 'Reference', value: reference },
  ]
  return {
    seller,
    customer: order.isErased ? [] : listed.filter((line) => line !== null),
    orderNumber: order.orderNumber,
    orderedAt,
    orderedOn: order.placedOn,
    dueOn,
    lines: [
      { label: credits, amount: parts?.offset ?? total },
      ...(parts?.serviceFee ? [{ label: 'Service fee', amount: parts.serviceFee }] : []),
    ],
    total,
    account: account ? rows.flatMap(({ label, value }) => (value ? [{ label, value }] : [])) : [],
    epcPayload,
    instructions: [
      ...(account ? [] : [`Reference: ${reference}`]),
      ...(instructions?.split('\n') ?? []),
    ],
  }
}

/** The payment request of an order that is to be paid by bank transfer, as a PDF. */
const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, brand, config, payments } = app
  const buildBankTransfer = createBankTransfers(config, store.calendar)
  const dates = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'long',
    timeZone: config.TIME_ZONE,
  })
  const seller = { name: brand.name, contact: brand.contactUrl?.replace(/^mailto:/, '') ?? null }

  app.get<{ Params: { token: string } }>(
    '/o/:token/payment-request.pdf',
    { config: { rateLimit: { max: MAX_PER_MINUTE, timeWindow: '1 minute' } } },
    async (request, reply) => {
      reply.header('referrer-policy', 'no-referrer')
      const { token } = request.params
      const order = await requireGuestOrder(app, token)
      const view = buildGuestOrderView(order, [], {
        certificate: null,
        bankTransfer: buildBankTransfer(order),
        format: {
          numbers: getRequestNumbers(request),
          time: (timestamp: string) => dates.format(new Date(timestamp)),
        },
      })
      const isOnline = payments.service !== null && order.checkout?.paymentMethod === 'stripe'
      if (view.payment === null || isOnline) return reply.redirect(`/o/${token}`, 303)
      const task: PaymentRequestTask = {
        request: buildPaymentRequest(view, order.placedAt, view.payment, seller),
        fontPath: config.CERTIFICATE_FONT,
      }
      const drawing = 'checkout/bank-transfer/draw-payment-request'
      const pdf = await drawInWorker(drawing, 'drawPaymentRequest', task)
      const fileName = `payment-request-${order.orderNumber.replace(/[^\w-]+/g, '-')}.pdf`
      return reply
        .type('application/pdf')
        .header('content-disposition', `inline; filename="${fileName}"`)
        .send(pdf)
    },
  )
}

export default pages
