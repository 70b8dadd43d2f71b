import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { getLocale } from '../../core/http/locale.js'
import { Problem } from '../../core/http/problem.js'
import type { Order } from '../../orders/order.js'
import { getFormatters } from '../../core/formatting/formatters.js'
import { buildOrderMailsView } from './mail-view.js'

const READ = { config: { permission: 'orders:read' } } as const
const MAIL = { config: { permission: 'mail:manage' } } as const

interface Route {
  Params: { id: string; mailId: string }
}

/** The emails about an order. */
const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, mail } = app

  async function findOrder({ params }: FastifyRequest<Route>): Promise<Order> {
    const order = await store.get(params.id)
    if (order === null) throw new Problem(404, 'Order not found.')
    return order
  }

  app.get<Route>('/admin/orders/:id/mails', READ, async (request, reply) => {
    const { id } = await findOrder(request)
    if (!request.wantsFragment) return reply.redirect(`/admin/orders/${id}`, 303)
    const locale = getLocale(request.headers['accept-language'])
    const format = getFormatters(locale, store.calendar.timeZone)
    const mails = buildOrderMailsView(id, await mail.listOfOrder(id), mail, format)
    return reply.renderView({ page: 'orders/_mails' }, { section: mails })
  })

  app.post<Route>('/admin/orders/:id/mails/:mailId/send', MAIL, async (request, reply) => {
    const order = await findOrder(request)
    const { mailId } = request.params
    if (mail.description === null) throw new Problem(409, 'Emails are not configured.')
    if (!(await mail.sendAgain(order, mailId))) throw new Problem(404, 'Email not found.')
    request.log.info({ order: order.id, mail: mailId, by: request.actor }, 'email queued again')
    reply.setFlash({ code: 'mail-queued', orderId: order.id })
    return reply.redirect(`/admin/orders/${order.id}`, 303)
  })
}

export default pages
