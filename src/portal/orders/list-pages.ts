import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { getLocale } from '../../http/locale.js'
import type { OrderStore } from '../../order-store/order-store.js'
import { parseListQuery } from '../../orders/list-query.js'
import adminPages from '../../plugins/admin-pages.js'
import { getFormatters } from '../formatters.js'
import { STATUS_LABELS } from '../labels.js'
import { parseBulkAction, parseSelection, updateOrders } from './bulk-actions.js'
import { buildBulkSummary } from './bulk-view.js'
import { buildListView } from './list-view.js'

type Fields = Record<string, unknown>

const NOTHING_SELECTED = { text: 'Select orders and an action first.', rejected: [], undo: null }

/** Parses a bulk form: the selected orders and the list that they were selected in. */
function parseBulkForm({ order, list }: Fields) {
  const listQuery = typeof list === 'string' ? list : ''
  const parameters = new URLSearchParams(listQuery)
  const query = Object.fromEntries(
    [...parameters.keys()].map((name) => [name, parameters.getAll(name)]),
  )
  return { selection: parseSelection(order), listQuery, query }
}

const pages: FastifyPluginAsync<{ store: OrderStore }> = async (app, { store }) => {
  await app.register(adminPages)
  const { timeZone } = store.calendar

  const getRequestFormatters = ({ headers }: FastifyRequest) =>
    getFormatters(getLocale(headers['accept-language']), timeZone)

  async function loadList(request: FastifyRequest, parameters: Fields, selected: string[] = []) {
    const { query, ignored } = parseListQuery(parameters)
    const { sort, page, pageSize, ...filters } = query
    const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
    const { items, total } = await store.list(filters, slice)
    const currencies = await store.listCurrencies()
    const data = { query, ignored, selectedIds: new Set(selected), items, total, currencies }
    return buildListView(data, getRequestFormatters(request), timeZone)
  }

  app.get<{ Querystring: Fields }>('/admin/orders', async (request, reply) => {
    const list = await loadList(request, request.query)
    if (request.wantsFragment) {
      // Without empty parameters, which forms send, and without repeating the current entry.
      const currentUrl = request.headers['hx-current-url']?.toString() ?? ''
      void reply.header('hx-push-url', currentUrl.endsWith(list.url) ? 'false' : list.url)
    }
    // While the user types, only the list is swapped, so that the form keeps its focus.
    const isListOnly = request.headers['hx-target']?.toString().endsWith('#list') ?? false
    return reply.renderView(
      {
        page: 'portal/orders/orders',
        fragment: isListOnly ? 'portal/orders/_list-part' : 'portal/orders/_orders',
      },
      { administrator: request.administrator, list },
    )
  })

  /** Renders the list after a bulk action, with its message. */
  const renderBulkResult = (
    reply: FastifyReply,
    list: Awaited<ReturnType<typeof loadList>>,
    success?: ReturnType<typeof buildBulkSummary>,
  ) =>
    reply.renderView(
      { page: 'portal/orders/orders', fragment: 'portal/orders/_orders-parts' },
      { administrator: reply.request.administrator, list, success },
    )

  /** Asks for confirmation of a bulk action. */
  async function renderConfirmation(
    request: FastifyRequest,
    reply: FastifyReply,
    body: Fields,
    action: 'cancel' | 'refunded',
  ) {
    const { selection, listQuery, query } = parseBulkForm(body)
    const found = await Promise.all(selection.map(({ id }) => store.get(id)))
    const orders = found.filter((order) => order !== null)
    if (orders.length === 0) {
      return renderBulkResult(reply, await loadList(request, query), NOTHING_SELECTED)
    }
    const format = getRequestFormatters(request)
    return reply.renderView(
      { page: 'portal/orders/bulk-confirm', fragment: 'portal/orders/_bulk-confirm' },
      {
        administrator: request.administrator,
        action,
        selection,
        orders: orders.map((order) => ({
          orderNumber: order.orderNumber,
          customerName: order.customerName,
          amount: format.money(order.amountMinor, order.currency),
          status: order.status,
          statusLabel: STATUS_LABELS[order.status],
        })),
        listQuery,
      },
    )
  }

  app.post<{ Body: Fields | undefined }>('/admin/orders/bulk', async (request, reply) => {
    const { administrator, body = {} } = request
    const { selection, listQuery, query } = parseBulkForm(body)
    const action = parseBulkAction(body.action)
    if (action === null || selection.length === 0) {
      const ids = selection.map(({ id }) => id)
      const list = await loadList(request, query, ids)
      // "Keep" declines the confirmation.
      const isKept = body.action === 'keep' && selection.length > 0
      return renderBulkResult(reply, list, isKept ? undefined : NOTHING_SELECTED)
    }
    if (body.action === 'refunded' && body.confirmed === undefined) {
      return renderConfirmation(request, reply, body, 'refunded')
    }
    const result = await updateOrders(store, selection, action, administrator.email)
    const summary = buildBulkSummary(result, action, listQuery)
    const rejectedIds = result.rejected.map(({ id }) => id)
    return renderBulkResult(reply, await loadList(request, query, rejectedIds), summary)
  })

  app.post<{ Body: Fields | undefined }>(
    '/admin/orders/bulk/cancellation',
    async (request, reply) => renderConfirmation(request, reply, request.body ?? {}, 'cancel'),
  )

  // The response to a form, reloaded
  for (const path of ['/admin/orders/bulk', '/admin/orders/bulk/cancellation']) {
    app.get(path, async (_request, reply) => reply.redirect('/admin/orders', 303))
  }
}

export default pages
