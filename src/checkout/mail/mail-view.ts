import { getPayload } from './message.js'
import type { MailType } from './mail-types.js'
import type { Mail } from './order-mails.js'
import { ERASED_EMAIL } from '../../orders/erasure.js'
import type { Delivery, MessageState } from '../../events/outbox.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { buildMessageView, isLive } from '../../events/message-view.js'

export const MAIL_TITLES: Record<MailType, string> = {
  order_received: 'Order received',
  payment_received: 'Payment received',
  certificate_ready: 'Certificate ready',
  order_cancelled: 'Order cancelled',
  order_refunded: 'Order refunded',
}

const STATES: Record<MessageState, string> = {
  pending: 'Waiting',
  sent: 'Sent',
  failed: 'Failed',
  cancelled: 'Not sent',
}

/** Builds the log entry of an email. */
export function buildMailView(delivery: Delivery, isConfigured: boolean, format: Formatters) {
  const { id, type, orderId } = delivery.message
  const { to, orderNumber } = getPayload(delivery.message)
  const href = `/admin/orders/${orderId ?? ''}`
  return {
    ...buildMessageView(delivery, STATES, format),
    title: MAIL_TITLES[type as MailType],
    subject: to,
    order: { href, number: orderNumber },
    sendUrl: isConfigured && to !== ERASED_EMAIL ? `${href}/mails/${id}/send` : null,
  }
}

/** The emails about an order, newest first. */
export function buildOrderMailsView(
  orderId: string,
  mails: readonly Delivery[],
  { description }: Pick<Mail, 'description'>,
  format: Formatters,
) {
  const isConfigured = description !== null
  return {
    isConfigured,
    url: `/admin/orders/${orderId}/mails`,
    isLive: isConfigured && isLive(mails),
    // No link to the order, because the emails are shown on its page.
    items: mails.map((mail) => ({ ...buildMailView(mail, isConfigured, format), order: null })),
  }
}
