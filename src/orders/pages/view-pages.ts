import type { FastifyPluginAsync } from 'fastify'
import { getAuditActor } from '../../audit/audit-log.js'
import { toSafeRedirectPath } from '../../core/http/request-path.js'

const WRITE = { config: { permission: 'orders:write' } } as const

interface Route {
  Body: Record<string, unknown> | undefined
}

const toText = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** The list that a form was sent from. */
const getListUrl = ({ list }: Record<string, unknown>): string =>
  toSafeRedirectPath(toText(list) || '/admin/orders')

/** Saving and removing views of the order list; both return to the list with a message. */
const pages: FastifyPluginAsync = async (app) => {
  const { savedViews } = app

  app.post<Route>('/admin/orders/views', WRITE, async (request, reply) => {
    const { body = {} } = request
    const list = getListUrl(body)
    const query = list.split('?')[1] ?? ''
    const code = await savedViews.save(toText(body.name), query, getAuditActor(request))
    reply.setFlash({ code, orderId: '' })
    return reply.redirect(list, 303)
  })

  app.post<Route>('/admin/orders/views/remove', WRITE, async (request, reply) => {
    const { body = {} } = request
    const code = await savedViews.remove(toText(body.name), getAuditActor(request))
    reply.setFlash({ code, orderId: '' })
    return reply.redirect(getListUrl(body), 303)
  })
}

export default pages
