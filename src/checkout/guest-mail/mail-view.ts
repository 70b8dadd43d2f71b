import type { CertificateChanges } from '../../certificates/certificate-section.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { ERASED_EMAIL } from '../../orders/erase-order.js'
import {
  countNoun,
  type Consequence,
  type ConsequenceOptions,
  type OrderChange,
} from '../../orders/pages/consequences.js'
import { buildMessageView, isLive } from '../../outbox/message-view.js'
import type { MessageState } from '../../outbox/messages.js'
import type { Delivery } from '../../outbox/read-messages.js'
import { findMailTypes, getPayload, isMailOrder, type MailType } from './guest-mail-types.js'

const MAIL_TITLES: Record<MailType, string> = {
  order_received: 'Order received',
  payment_reminder: 'Payment reminder',
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
  isConfigured: boolean,
  format: Formatters,
) {
  return {
    isConfigured,
    url: `/admin/orders/${orderId}/mails`,
    isLive: isConfigured && isLive(mails),
    // No link to the order, because the emails are shown on its page.
    items: mails.map((mail) => ({ ...buildMailView(mail, isConfigured, format), order: null })),
  }
}

function findMails(change: OrderChange, certificates: CertificateChanges): MailType[] {
  const { before, after } = change
  if (!isMailOrder(after)) return []
  const wasRefunded = before.status === 'refunded' || before.cancelledFrom === 'refunded'
  const types = findMailTypes(before.status, after.status, wasRefunded)
  const isAnnounced = certificates.isIssued(change) && !certificates.hasOne(before)
  return isAnnounced ? [...types, 'certificate_ready'] : types
}

/** Says when emails are sent, and until when an undo stops them. */
function describeHold(
  holdMs: number,
  isOne: boolean,
  { isRefund }: Pick<ConsequenceOptions, 'isRefund'>,
): string {
  if (holdMs === 0) return isOne ? 'The email is sent at once.' : 'Emails are sent at once.'
  const seconds = holdMs / 1000
  const delay = seconds === 1 ? 'a second' : `${seconds} seconds`
  const isSent = isOne ? 'The email is sent' : 'Emails are sent'
  const rest = isOne ? 'it is not sent' : 'they are not sent'
  return isRefund
    ? `${isSent} after ${delay}.`
    : `${isSent} after ${delay}; undo before then and ${rest}.`
}

const list = new Intl.ListFormat('en')

/**
 * Says which guests changes send emails to.
 *
 * @param holdMs how long the emails wait
 */
export function describeMails(
  changes: readonly OrderChange[],
  certificates: CertificateChanges,
  holdMs: number,
  options: ConsequenceOptions,
): Consequence[] {
  const { isSingle } = options
  const mails = changes.map((change) => ({ change, types: findMails(change, certificates) }))
  const emailed = mails.filter(({ types }) => types.length > 0)
  if (emailed.length === 0) return []
  const guests = new Set(emailed.map(({ change }) => change.after.customerEmail.toLowerCase()))
  const types = [...new Set(mails.flatMap((mail) => mail.types))]
  const titles = list.format(types.map((type) => `“${MAIL_TITLES[type]}”`))
  return [
    {
      clause: `emails ${countNoun(guests.size, 'guest', options)}${isSingle ? ` ${titles}` : ''}`,
      note: describeHold(holdMs, isSingle && types.length === 1, options),
    },
  ]
}
