import { getMoneyFormatter } from '../formatting/money-formatter.js'
import { getNumberFormatter } from '../formatting/number-formatter.js'
import type { OrderLinks } from '../ordering/order-links.js'
import { buildOrderView } from '../ordering/order-view.js'
import type { Order } from '../orders/order.js'
import { buildMailContent } from './mail-content.js'
import type { RenderedMail } from './mail-delivery.js'
import { formatMailText } from './mail-text.js'
import type { MailType } from './mail-types.js'

/** All emails use this locale, because the guest's language is not stored. */
const LOCALE = 'en-GB'

interface Options {
  renderTemplate: (template: string, data: object) => Promise<string>
  links: Pick<OrderLinks, 'create'>
  publicBaseUrl: () => string
  brandName: string
  hasLogo: boolean
  timeZone: string
  paymentInstructions: string | null
}

/** Creates the function that writes emails about orders. */
export function createMailRenderer(options: Options) {
  const { renderTemplate, links, publicBaseUrl, brandName, hasLogo, timeZone } = options
  const dates = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'long', timeStyle: 'short', timeZone })
  const formatDate = (timestamp: string): string => dates.format(new Date(timestamp))
  const viewOptions = {
    certificate: null,
    paymentInstructions: options.paymentInstructions,
    format: {
      numbers: getNumberFormatter(LOCALE),
      money: getMoneyFormatter(LOCALE),
      time: formatDate,
    },
    formatDate,
  }

  return async (type: MailType, order: Order): Promise<RenderedMail> => {
    const orderView = buildOrderView(order, [], viewOptions)
    const content = buildMailContent(type, orderView, order.checkout?.paymentMethod ?? 'invoice')
    const url = `${publicBaseUrl()}/o/${await links.create(order)}`
    return {
      subject: content.title,
      text: formatMailText({ content, url, brandName }),
      html: await renderTemplate('mail/mail', { ...content, url, hasLogo }),
    }
  }
}

export type RenderMail = ReturnType<typeof createMailRenderer>
