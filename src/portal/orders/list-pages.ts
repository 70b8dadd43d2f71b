import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import adminPages from '../../plugins/admin-pages.js'
import { getLocale } from '../../http/locale.js'
import type { OrderStore } from '../../order-store/order-store.js'
import { updateOrders, parseBulkAction, parseSelection } from './bulk-actions.js'
import { buildBulkSummary } from './bulk-view.js'
import { getFormatters } from '../formatters.js'
import { parseListQuery } from '../../orders/list-query.js'
import { buildListView } from './list-view.js'
import { STATUS_LABELS } from '../labels.js'

type Fields = Record<string, unknown>

const pages: FastifyPluginAsync<{ store: OrderStore }> = async (app, { store }) => {
  await app.register(adminPages)
  const { timeZone } = store.calendar

  const figuresOf = ({ headers }: FastifyRequest) =>
    getFormatters(getLocale(headers['accept-language']), timeZone)

  async function listFor(request: FastifyRequest, address: Fields, chosen: string[] = []) {
    const { query, ignored: leftOut } = parseListQuery(address)
    const { sort, page, pageSize, ...filters } = query
    const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
    const { items, total } = await store.list(filters, slice)
    const figures = figuresOf(request)
    const currencies = store.listCurrencies()
    return buildListView({
      query,
      leftOut,
      chosen: new Set(chosen),
      items,
      total,
      currencies,
      figures,
      timeZone,
    })
  }

  app.get<{ Querystring: Fields }>('/admin/orders', async (request, reply) => {
    const list = await listFor(request, request.query)
    // While somebody types, only what is listed changes, so that the form keeps its focus.
    if (request.wantsFragment) {
      // The address that goes into the history has no blanks, as forms send them, and goes once.
      const current = request.headers['hx-current-url']?.toString() ?? ''
      void reply.header('hx-push-url', current.endsWith(list.url) ? 'false' : list.url)
    }
    const listOnly = request.headers['hx-target']?.toString().endsWith('#list') ?? false
    return reply.renderView(
      {
        page: 'portal/orders/orders',
        fragment: listOnly ? 'portal/orders/_list-part' : 'portal/orders/_orders',
      },
      { administrator: request.administrator, list },
    )
  })

  /** What came with a form about several orders: which ones, and the list they were chosen from. */
  function readSeveral({ order, list }: Fields) {
    const address = typeof list === 'string' ? list : ''
    const parameters = new URLSearchParams(address)
    const fields = Object.fromEntries(
      [...parameters.keys()].map((name) => [name, parameters.getAll(name)]),
    )
    return { chosen: parseSelection(order), address, fields }
  }
  /** The list after something was wanted of several orders, and what came of it. */
  const showSeveral = (
    reply: FastifyReply,
    list: Awaited<ReturnType<typeof listFor>>,
    success?: ReturnType<typeof buildBulkSummary>,
  ) =>
    reply.renderView(
      { page: 'portal/orders/orders', fragment: 'portal/orders/_orders-parts' },
      { administrator: reply.request.administrator, list, success },
    )
  const nothingChosen = {
    text: 'Choose orders first, and what to do with them.',
    refused: [],
    undo: null,
  }

  app.post<{ Body: Fields | undefined }>('/admin/orders/several', async (request, reply) => {
    const { administrator, body = {} } = request
    const { chosen, address, fields } = readSeveral(body)
    const action = parseBulkAction(body.action)
    if (action === null || chosen.length === 0) {
      // Who keeps orders, or has not said what to do with them, still has them chosen.
      const ids = chosen.map(({ id }) => id)
      const list = await listFor(request, fields, ids)
      const summary = body.action === 'keep' && chosen.length > 0 ? undefined : nothingChosen
      return showSeveral(reply, list, summary)
    }
    const outcome = await updateOrders(store, chosen, action, administrator.email)
    const summary = buildBulkSummary(outcome, action, address)
    const refused = outcome.refused.map(({ id }) => id)
    const list = await listFor(request, fields, refused)
    return showSeveral(reply, list, summary)
  })

  // Cancelling is asked about first.
  app.post<{ Body: Fields | undefined }>(
    '/admin/orders/several/cancellation',
    async (request, reply) => {
      const { administrator, body = {} } = request
      const { chosen, address, fields } = readSeveral(body)
      const orders = chosen.flatMap(({ id }) => store.get(id) ?? [])
      if (orders.length === 0) {
        const list = await listFor(request, fields)
        return showSeveral(reply, list, nothingChosen)
      }
      return reply.renderView(
        { page: 'portal/orders/bulk-cancel', fragment: 'portal/orders/_bulk-cancel' },
        {
          administrator,
          chosen,
          orders: orders.map((order) => ({
            orderNumber: order.orderNumber,
            customerName: order.customerName,
            amount: figuresOf(request).money(order.amountMinor, order.currency),
            status: order.status,
            statusName: STATUS_LABELS[order.status],
          })),
          address,
        },
      )
    },
  )
  // Reloading what came of it leads back to the list.
  for (const path of ['/admin/orders/several', '/admin/orders/several/cancellation']) {
    app.get(path, async (_request, reply) => reply.redirect('/admin/orders', 303))
  }
}

export default pages
