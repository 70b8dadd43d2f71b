import type { FastifyPluginAsync } from 'fastify'
import { toSafeRedirectPath } from '../../http/safe-redirect-path.js'
import adminPages from '../../plugins/admin-pages.js'
import type { SavedViews } from './saved-views.js'

const WRITE = { config: { permission: 'orders:write' } } as const

interface Route {
  Body: Record<string, unknown> | undefined
}

const toText = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

/** The list that a form was sent from. */
const getListUrl = ({ list }: Record<string, unknown>): string =>
  toSafeRedirectPath(toText(list) || '/admin/orders')

/** Saving and removing views of the order list; both return to the list with a message. */
const pages: FastifyPluginAsync<{ savedViews: SavedViews }> = async (app, { savedViews }) => {
  await app.register(adminPages)

  app.post<Route>('/admin/orders/views', WRITE, async ({ body = {}, administrator }, reply) => {
    const list = getListUrl(body)
    const query = list.split('?')[1] ?? ''
    const code = await savedViews.save(toText(body.name), query, administrator.email)
    reply.setFlash({ code, orderId: '' })
    return reply.redirect(list, 303)
  })

  app.post<Route>('/admin/orders/views/remove', WRITE, async ({ body = {} }, reply) => {
    const code = await savedViews.remove(toText(body.name))
    reply.setFlash({ code, orderId: '' })
    return reply.redirect(getListUrl(body), 303)
  })
}

export default pages
