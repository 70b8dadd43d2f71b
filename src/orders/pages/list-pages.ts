import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { getAuditActor } from '../../audit/audit-log.js'
import { getRequestFormatters } from '../../core/http/locale.js'
import { toSafeRedirectPath } from '../../core/http/request-path.js'
import { toTrimmedText } from '../../core/validation/text-rules.js'
import { parseListQuery } from '../order-filters.js'
import type { SelectedOrder } from './bulk-actions.js'
import { buildListView } from './list-view.js'
import { getViewMessage } from './saved-views.js'

const READ = { config: { permission: 'orders:read' } } as const
const WRITE = { config: { permission: 'orders:write' } } as const

/** Loads a page of the list, with the selection that a form sent. */
export async function loadList(
  request: FastifyRequest,
  parameters: Record<string, unknown>,
  selection: SelectedOrder[] = [],
) {
  const { orders: store, orderPage, savedViews } = request.server
  const { query, ignored } = parseListQuery(parameters)
  const { sort, page, pageSize, ...filters } = query
  const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
  const { items, ...total } = await store.list(filters, slice)
  const currencies = await store.listCurrencies()
  const views = await savedViews.list()
  const notes = await orderPage.loadListNotes(items)
  const data = { query, ignored, selection, items, total, currencies, views, notes }
  return buildListView(data, getRequestFormatters(request), store.calendar)
}

/** The list that a form was sent from. */
const getListUrl = ({ list }: Record<string, unknown>): string =>
  toSafeRedirectPath(toTrimmedText(list) || '/admin/orders')

interface ViewRoute {
  Body: Record<string, unknown> | undefined
}

/** The list of orders, and its saved views. */
const pages: FastifyPluginAsync = async (app) => {
  const { savedViews } = app

  app.get<{ Querystring: Record<string, unknown> }>(
    '/admin/orders',
    READ,
    async (request, reply) => {
      const list = await loadList(request, request.query)
      if (request.wantsFragment) {
        // Omits the empty parameters that forms send, and does not push the current URL again.
        const currentUrl = request.headers['hx-current-url']?.toString() ?? ''
        void reply.header('hx-push-url', currentUrl.endsWith(list.url) ? 'false' : list.url)
      }
      const message = request.wantsFragment
        ? null
        : getViewMessage(reply.consumeFlash()?.code ?? '')
      // While the user types, only the list is swapped, so that the form keeps its focus.
      const isListOnly = request.headers['hx-target']?.toString().endsWith('#list') ?? false
      return reply.renderView(
        {
          page: 'orders/orders',
          fragment: isListOnly ? 'orders/_list-part' : 'orders/_orders',
        },
        { list, success: message === null ? null : { text: message } },
      )
    },
  )

  app.post<ViewRoute>('/admin/orders/views', WRITE, async (request, reply) => {
    const { body = {} } = request
    const list = getListUrl(body)
    const query = list.split('?')[1] ?? ''
    const code = await savedViews.save(toTrimmedText(body.name), query, getAuditActor(request))
    reply.setFlash({ code })
    return reply.redirect(list, 303)
  })

  app.post<ViewRoute>('/admin/orders/views/remove', WRITE, async (request, reply) => {
    const { body = {} } = request
    const code = await savedViews.remove(toTrimmedText(body.name), getAuditActor(request))
    reply.setFlash({ code })
    return reply.redirect(getListUrl(body), 303)
  })
}

export default pages
