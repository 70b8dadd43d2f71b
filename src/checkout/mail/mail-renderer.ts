import type { FastifyInstance } from 'fastify'
import { findOrderCertificate } from '../../certificates/certificate-store.js'
import { formatMoney } from '../../core/formatting/money-formatter.js'
import { getNumberFormatter } from '../../core/formatting/number-formatter.js'
import type { RenderedMail } from '../../mail/mail-delivery.js'
import type { Order } from '../../orders/order.js'
import { getBalance } from '../../payments/payment.js'
import { getPaymentInstructions } from '../checkout-config.js'
import { buildOrderView } from '../order-view.js'
import { buildMailContent, formatMailText, type MailAmounts } from './mail-content.js'
import type { MailType } from './message.js'

/** All emails use this locale, because the guest's language is not stored. */
const LOCALE = 'en-GB'

/** Creates the function that writes emails about orders. */
export function createMailRenderer(app: FastifyInstance) {
  const { config, database, orderLinks, payments } = app
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
    const orderView = buildOrderView(order, [], {
      certificate: certificate && {
        code: certificate.code,
        issuedAt: certificate.issuedAt,
        co2eKg: certificate.content.co2eKg,
        pdfProblem: null,
      },
      paymentInstructions: getPaymentInstructions(config),
      format,
    })
    const method = order.checkout?.paymentMethod ?? 'invoice'
    const content = buildMailContent(type, orderView, method, await findAmounts(order.id))
    const orderUrl = `${app.publicBaseUrl()}/o/${await orderLinks.create(order)}`
    const url = certificate === null ? orderUrl : `${app.publicBaseUrl()}/c/${certificate.code}`
    const hasLogo = app.mailDelivery?.hasLogo ?? false
    return {
      subject: content.title,
      text: formatMailText(content, url, orderUrl, config.BRAND_NAME),
      html: await app.view('mail/mail', { ...content, url, orderUrl, hasLogo }),
    }
  }
}
