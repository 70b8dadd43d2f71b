import { getBalance } from '../../payments/payment.js'
import { formatMoney } from '../../core/formatting/money-formatter.js'
import { getNumberFormatter } from '../../core/formatting/number-formatter.js'
import type { OrderLinks } from '../order-links.js'
import type { Certificate } from '../../certificates/certificate.js'
import { buildOrderView } from '../order-view.js'
import type { Order } from '../../orders/order.js'
import type { PaymentStore } from '../../payments/payment-store.js'
import { buildMailContent, type MailAmounts } from './mail-content.js'
import type { RenderedMail } from '../../mail/mail-delivery.js'
import { formatMailText } from './mail-text.js'
import type { MailType } from './mail-types.js'

/** All emails use this locale, because the guest's language is not stored. */
const LOCALE = 'en-GB'

interface Options {
  renderTemplate: (template: string, data: object) => Promise<string>
  links: Pick<OrderLinks, 'create'>
  /** Returns the newest certificate of an order; `null` if it has none */
  findCertificate: (orderId: string) => Promise<Certificate | null>
  payments: Pick<PaymentStore, 'list'>
  publicBaseUrl: () => string
  brandName: string
  hasLogo: boolean
  timeZone: string
  paymentInstructions: string | null
}

/** Creates the function that writes emails about orders. */
export function createMailRenderer(options: Options) {
  const { renderTemplate, links, findCertificate, payments, publicBaseUrl } = options
  const { brandName, hasLogo, timeZone } = options
  const dates = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'long', timeStyle: 'short', timeZone })
  const formatDate = (timestamp: string): string => dates.format(new Date(timestamp))
  const viewOptions = {
    paymentInstructions: options.paymentInstructions,
    format: {
      numbers: getNumberFormatter(LOCALE),
      money: formatMoney,
      time: formatDate,
    },
    formatDate,
  }

  /** The latest payment that was received, and the latest that was refunded. */
  async function findAmounts(orderId: string): Promise<MailAmounts> {
    const all = await payments.list(orderId)
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
    const certificate = type === 'certificate_ready' ? await findCertificate(order.id) : null
    const orderView = buildOrderView(order, [], {
      ...viewOptions,
      certificate: certificate && {
        code: certificate.code,
        issuedAt: certificate.issuedAt,
        co2eKg: certificate.content.co2eKg,
        pdfProblem: null,
      },
    })
    const method = order.checkout?.paymentMethod ?? 'invoice'
    const content = buildMailContent(type, orderView, method, await findAmounts(order.id))
    const orderUrl = `${publicBaseUrl()}/o/${await links.create(order)}`
    const url = certificate === null ? orderUrl : `${publicBaseUrl()}/c/${certificate.code}`
    return {
      subject: content.title,
      text: formatMailText({ content, url, orderUrl, brandName }),
      html: await renderTemplate('mail/mail', { ...content, url, orderUrl, hasLogo }),
    }
  }
}

export type RenderMail = ReturnType<typeof createMailRenderer>
