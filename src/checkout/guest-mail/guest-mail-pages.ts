import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { CertificateChanges } from '../../certificates/certificate-section.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { getRequestFormatters } from '../../core/http/locale.js'
import { Problem } from '../../core/http/problem.js'
import { parsePage } from '../../core/http/request-path.js'
import { ERASED_EMAIL } from '../../orders/erase-order.js'
import type { Order } from '../../orders/order.js'
import {
  countNoun,
  type Consequence,
  type ConsequenceOptions,
  type OrderChange,
} from '../../orders/pages/order-extensions.js'
import type { MessageState } from '../../outbox/messages.js'
import { buildMessageView, isLive, type Delivery, type Slice } from '../../outbox/read-messages.js'
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
function buildMailView(delivery: Delivery, isConfigured: boolean, format: Formatters) {
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

const READ = { config: { permission: 'orders:read' } } as const
const MAIL = { config: { permission: 'mail:manage' } } as const

const EMAIL_URL = '/admin/settings/email'
const MAILS_PER_PAGE = 20

const FILTERS = [
  { state: null, label: 'All', nothing: 'No emails yet.', where: {} },
  {
    state: 'failing',
    label: 'Failing',
    nothing: 'No email waits for another attempt.',
    where: { states: ['pending'], minFailures: 1 },
  },
  {
    state: 'failed',
    label: 'Failed',
    nothing: 'No email has failed.',
    where: { states: ['failed'] },
  },
] as const satisfies readonly { where: Partial<Slice>; [field: string]: unknown }[]

interface OrderRoute {
  Params: { id: string; mailId: string }
}

interface Query {
  page?: unknown
  state?: unknown
}

/** Settings: whether emails are sent, and the log of all emails; the emails about an order. */
const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, mail } = app
  const isConfigured = mail.description !== null
  app.settings.addPage({ href: EMAIL_URL, label: 'Email', permission: 'mail:manage' })

  app.get<{ Querystring: Query }>(EMAIL_URL, MAIL, async (request, reply) => {
    const format = getRequestFormatters(request)
    const page = parsePage(request.query.page)
    const filter = FILTERS.find(({ state }) => state === request.query.state) ?? FILTERS[0]
    const { items, total } = await mail.list({
      limit: MAILS_PER_PAGE,
      offset: (page - 1) * MAILS_PER_PAGE,
      ...filter.where,
    })
    const pageCount = Math.max(1, Math.ceil(total / MAILS_PER_PAGE))
    const toUrl = (number: number) =>
      `${EMAIL_URL}?${filter.state === null ? '' : `state=${filter.state}&`}page=${number}`
    return reply.renderSettings(
      { page: 'checkout/email' },
      {
        description: mail.description,
        timeZone: app.config.TIME_ZONE,
        mails: items.map((item) => buildMailView(item, isConfigured, format)),
        filters: FILTERS.map(({ label, state }) => ({
          label,
          href: state === null ? EMAIL_URL : `${EMAIL_URL}?state=${state}`,
          isCurrent: state === filter.state,
        })),
        nothing: filter.nothing,
        previous: page > 1 ? toUrl(Math.min(page - 1, pageCount)) : null,
        next: page < pageCount ? toUrl(page + 1) : null,
      },
    )
  })

  async function findOrder({ params }: FastifyRequest<OrderRoute>): Promise<Order> {
    const order = await store.get(params.id)
    if (order === null) throw new Problem(404, 'Order not found.')
    return order
  }

  app.get<OrderRoute>('/admin/orders/:id/mails', READ, async (request, reply) => {
    const { id } = await findOrder(request)
    if (!request.wantsFragment) return reply.redirect(`/admin/orders/${id}`, 303)
    const format = getRequestFormatters(request)
    const mails = buildOrderMailsView(id, await mail.listOfOrder(id), isConfigured, format)
    return reply.renderView({ page: 'checkout/_mails' }, { section: mails })
  })

  app.post<OrderRoute>('/admin/orders/:id/mails/:mailId/send', MAIL, async (request, reply) => {
    const order = await findOrder(request)
    const { mailId } = request.params
    if (!isConfigured) throw new Problem(409, 'Emails are not configured.')
    if (!(await mail.sendAgain(order, mailId))) throw new Problem(404, 'Email not found.')
    request.log.info({ order: order.id, mail: mailId, by: request.actor }, 'email queued again')
    reply.setFlash({ code: 'mail-queued', orderId: order.id })
    return reply.redirect(`/admin/orders/${order.id}`, 303)
  })
}

export default pages
