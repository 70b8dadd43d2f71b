import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { getRequestFormatters } from '../../core/http/locale.js'
import { parsePage } from '../../core/http/pagination.js'
import { Problem } from '../../core/http/problem.js'
import type { Order } from '../../orders/order.js'
import type { Slice } from '../../outbox/read-messages.js'
import { buildMailView, buildOrderMailsView } from './mail-view.js'

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
