import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { findOrderCertificate } from '../../certificates/certificate-store.js'
import { isValid } from '../../certificates/certificate.js'
import { projectRoot } from '../../core/config/config-part.js'
import { formatMoney, getNumberFormatter } from '../../core/formatting/number-formatter.js'
import { HOUR_MS, MINUTE_MS } from '../../core/time.js'
import {
  MAX_SEND_MS,
  type MailDelivery,
  type MailPicture,
  type RenderedMail,
} from '../../mail/smtp-delivery.js'
import { findLatestAttempt } from '../../orders/attempt.js'
import { isCustomer } from '../../orders/erase-order.js'
import type { Order } from '../../orders/order.js'
import type { Message } from '../../outbox/messages.js'
import type { Sender, SendResult } from '../../outbox/outbox.js'
import { getBalance, isReceived } from '../../payments/payment.js'
import { createBankTransfers } from '../bank-transfer/bank-transfer.js'
import { buildGuestOrderView } from '../guest-order-view.js'
import { getPayload, isStillTrue, MAIL_QUEUE, type MailType } from './guest-mail-types.js'
import { buildMailContent, formatMailText, linksToPdf, type MailAmounts } from './mail-content.js'

/** Three days, so that no email is lost if the mail server is down for a weekend. */
const RETRY_DELAYS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
]

const CONCURRENCY = 3
/** Time to read the order and record the attempt */
const GRACE_MS = 15_000

/**
 * Returns why an email is not sent, because what it says is not true; `null` if it is true. The
 * change that it reports may have been undone.
 */
async function findObstacle(
  { database, orders: store, payments }: FastifyInstance,
  type: MailType,
  order: Order,
): Promise<string | null> {
  if (!isStillTrue(type, order)) return `the order is now ${order.status}`
  if (type === 'certificate_ready') {
    const certificate = await findOrderCertificate(database, order.id)
    const attempt = findLatestAttempt((await store.getHistory(order.id)) ?? [])
    return certificate !== null && isValid(certificate, order, attempt)
      ? null
      : 'there is no valid certificate'
  }
  if (type !== 'order_refunded') return null
  const found = await payments.store.list(order.id)
  if (found.some(isReceived)) return 'Stripe has not returned the money'
  const wasRefunded =
    order.cancelledFrom === 'refunded' || found.some(({ refundedMinor }) => refundedMinor > 0)
  return order.status === 'refunded' || wasRefunded ? null : `the order is now ${order.status}`
}

/** All emails use this locale, because the guest's language is not stored. */
const LOCALE = 'en-GB'

const readPicture = (): MailPicture => ({
  cid: 'picture',
  filename: 'sea.png',
  contentType: 'image/png',
  content: readFileSync(join(projectRoot, 'templates/mail/sea.png')),
})

/** Creates the function that writes emails about orders. */
function createMailRenderer(app: FastifyInstance) {
  const { certificates, config, database, orderLinks, payments } = app
  const buildBankTransfer = createBankTransfers(config, app.orders.calendar)
  const picture = readPicture()
  const dates = new Intl.DateTimeFormat(LOCALE, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: config.TIME_ZONE,
  })
  const format = {
    numbers: getNumberFormatter(LOCALE),
    time: (timestamp: string) => dates.format(new Date(timestamp)),
  }

  /** The latest payment that was received, and the latest that was refunded. */
  async function findAmounts(orderId: string): Promise<MailAmounts> {
    const all = await payments.store.list(orderId)
    const received = all.filter((payment) => payment.settledAt !== null || getBalance(payment) > 0)
    const refunded = [...received, ...all].find(({ refundedMinor }) => refundedMinor > 0)
    const [latest] = received
    return {
      received: latest === undefined ? null : formatMoney(latest.amountMinor, latest.currency),
      refunded:
        refunded === undefined ? null : formatMoney(refunded.refundedMinor, refunded.currency),
    }
  }

  return async (type: MailType, order: Order): Promise<RenderedMail> => {
    const certificate =
      type === 'certificate_ready' ? await findOrderCertificate(database, order.id) : null
    const orderView = buildGuestOrderView(order, [], {
      certificate,
      pdfProblem: certificate && (await certificates.findPdfProblem(certificate, true)),
      bankTransfer: buildBankTransfer(order),
      format,
    })
    const method = order.checkout?.paymentMethod ?? 'invoice'
    const content = buildMailContent(type, orderView, method, await findAmounts(order.id))
    const orderUrl = `${app.publicBaseUrl()}/o/${await orderLinks.create(order)}`
    const certificateUrl = certificate && `${app.publicBaseUrl()}/c/${certificate.code}`
    const shareUrl = linksToPdf(orderView) ? certificateUrl : null
    const url = shareUrl ? `${orderUrl}/certificate.pdf` : (certificateUrl ?? orderUrl)
    const links = { url, orderUrl, shareUrl }
    const hasLogo = app.mailDelivery?.hasLogo ?? false
    return {
      subject: content.title,
      text: formatMailText(content, links, app.brand),
      html: await app.view('mail/mail', { ...content, ...links, hasLogo }),
      pictures: content.hasPicture ? [picture] : [],
    }
  }
}

/** Sends the emails in the outbox. */
export function createMailSender(app: FastifyInstance, delivery: MailDelivery): Sender {
  const render = createMailRenderer(app)

  async function send(message: Message, signal: AbortSignal): Promise<SendResult> {
    const { to, orderCreatedAt, copy } = getPayload(message)
    const type = message.type as MailType
    const order = await app.orders.get(message.orderId ?? '')
    if (order?.createdAt !== orderCreatedAt) {
      return { outcome: 'rejected', status: null, detail: 'The order no longer exists.' }
    }
    const obstacle = isCustomer(to, order.customerEmail)
      ? await findObstacle(app, type, order)
      : 'the address of the order was changed'
    if (obstacle !== null) {
      return { outcome: 'cancelled', status: null, detail: `Not sent, because ${obstacle}.` }
    }
    const content = await render(type, order)
    const id = copy === 0 ? message.id : `${message.id}.${copy}`
    const result = await delivery.send({ ...content, id, to }, signal)
    return { ...result, detail: `To ${to}: ${result.detail}` }
  }

  return {
    queuePrefix: MAIL_QUEUE,
    concurrency: CONCURRENCY,
    leaseMs: MAX_SEND_MS + GRACE_MS,
    retryDelaysMs: RETRY_DELAYS_MS,
    send,
  }
}
