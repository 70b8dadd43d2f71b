import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { findLatestAttempt } from '../../orders/attempt.js'
import { getLocale } from '../../core/http/locale.js'
import { parseListQuery } from '../../orders/list-query.js'
import type { Order } from '../../orders/order.js'
import { getUndoPermission, requireStatusPermission } from '../../orders/status-permission.js'
import { isReceived } from '../../payments/payment.js'
import { getFormatters } from '../../core/formatting/formatters.js'
import { parseBulkAction, updateOrders, type SelectedOrder } from './bulk-actions.js'
import { loadBulkOrders, parseBulkForm, type BulkForm } from './bulk-selection.js'
import { buildBulkConfirmation, buildBulkSummary, type ConfirmedAction } from './bulk-view.js'
import {
  describeConsequences,
  findConsequences,
  simulateChanges,
  type OrderRecords,
} from './consequences.js'
import { buildListView } from './list-view.js'
import { explainBlockedUndo } from './blocked-undo.js'
import { getViewMessage } from './saved-views.js'

const READ = { config: { permission: 'orders:read' } } as const
const WRITE = { config: { permission: 'orders:write' } } as const

type Fields = Record<string, unknown>

const NOTHING_SELECTED = { text: 'Select orders and an action first.', rejected: [], undo: null }

const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, savedViews, payments, certificates, mail } = app
  const { timeZone } = store.calendar

  const getRequestFormatters = ({ headers }: FastifyRequest) =>
    getFormatters(getLocale(headers['accept-language']), timeZone)

  async function loadList(
    request: FastifyRequest,
    parameters: Fields,
    selection: SelectedOrder[] = [],
  ) {
    const { query, ignored } = parseListQuery(parameters)
    const { sort, page, pageSize, ...filters } = query
    const slice = { sort, offset: (page - 1) * pageSize, limit: pageSize }
    const { items, ...total } = await store.list(filters, slice)
    const currencies = await store.listCurrencies()
    const views = await savedViews.list()
    const found = await payments.store.findLatest(
      items.filter(({ checkout }) => checkout !== null).map(({ id }) => id),
    )
    const data = { query, ignored, selection, items, total, currencies, views, payments: found }
    return buildListView(data, getRequestFormatters(request), store.calendar)
  }

  app.get<{ Querystring: Fields }>('/admin/orders', READ, async (request, reply) => {
    const list = await loadList(request, request.query)
    if (request.wantsFragment) {
      // Omits the empty parameters that forms send, and does not push the current URL again.
      const currentUrl = request.headers['hx-current-url']?.toString() ?? ''
      void reply.header('hx-push-url', currentUrl.endsWith(list.url) ? 'false' : list.url)
    }
    const message = request.wantsFragment ? null : getViewMessage(reply.consumeFlash()?.code ?? '')
    // While the user types, only the list is swapped, so that the form keeps its focus.
    const isListOnly = request.headers['hx-target']?.toString().endsWith('#list') ?? false
    return reply.renderView(
      {
        page: 'portal/orders/orders',
        fragment: isListOnly ? 'portal/orders/_list-part' : 'portal/orders/_orders',
      },
      {
        list,
        success: message === null ? null : { text: message },
      },
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
      { list, success },
    )

  async function loadRecords(orders: readonly Order[]): Promise<Map<string, OrderRecords>> {
    const latest = await payments.store.findLatest(orders.map(({ id }) => id))
    const entries = orders.map(async (order): Promise<[string, OrderRecords]> => {
      const isGuestOrder = order.checkout !== null
      const state = isGuestOrder ? await certificates.findByOrder(order) : null
      const history = isGuestOrder ? ((await store.getHistory(order.id)) ?? []) : []
      const records = {
        payments: [latest.get(order.id) ?? []].flat(),
        certificate: state?.certificate ?? null,
        attempt: findLatestAttempt(history),
      }
      return [order.id, records]
    })
    return new Map(await Promise.all(entries))
  }

  /** Says what a bulk action leads to; `null` if there is nothing to say. */
  async function describeBulkAction(
    request: FastifyRequest,
    orders: readonly Order[],
    action: ConfirmedAction,
  ): Promise<string | null> {
    const records = await loadRecords(orders)
    const changes = simulateChanges(
      orders,
      action === 'cancel' ? { type: 'cancel' } : { type: 'edit', changes: { status: action } },
      ({ id }) => records.get(id) ?? { payments: [], certificate: null, attempt: null },
    ).filter(
      // A payment through Stripe is refunded on the page of its order.
      ({ payments: paid }) => action !== 'refunded' || !paid.some(isReceived),
    )
    return describeConsequences(findConsequences(changes, mail.description !== null), {
      isSingle: false,
      holdMs: mail.holdMs,
      canUndo: true,
      format: getRequestFormatters(request),
    })
  }

  /** Asks for confirmation of a bulk action. */
  async function renderConfirmation(
    request: FastifyRequest,
    reply: FastifyReply,
    form: BulkForm,
    action: ConfirmedAction,
    orders: readonly Order[],
  ) {
    if (orders.length === 0) {
      return renderBulkResult(reply, await loadList(request, form.query), NOTHING_SELECTED)
    }
    return reply.renderView(
      { page: 'portal/orders/bulk-confirm', fragment: 'portal/orders/_bulk-confirm' },
      {
        ...buildBulkConfirmation(
          orders,
          action,
          await describeBulkAction(request, orders, action),
          getRequestFormatters(request),
        ),
        // Only the displayed versions are confirmed; orders that have changed since are rejected.
        selection: form.isForAllMatching ? orders : form.selection,
        listQuery: form.listQuery,
      },
    )
  }

  app.post<{ Body: Fields | undefined }>('/admin/orders/bulk', WRITE, async (request, reply) => {
    const { actor, body = {} } = request
    const form = parseBulkForm(body)
    const { selection, listQuery, query } = form
    const action = parseBulkAction(body.action)
    if (action === null || (selection.length === 0 && !form.isForAllMatching)) {
      const list = await loadList(request, query, selection)
      // "Keep" in the confirmation leaves the selected orders unchanged.
      const isKept = body.action === 'keep' && selection.length > 0
      return renderBulkResult(reply, list, isKept ? undefined : NOTHING_SELECTED)
    }
    if (action.type === 'status') {
      requireStatusPermission(request, action.status)
      const isConfirmed = body.confirmed !== undefined && !form.isForAllMatching
      const orders = isConfirmed ? [] : await loadBulkOrders(store, form)
      const needsConfirmation =
        form.isForAllMatching ||
        action.status === 'refunded' ||
        (await describeBulkAction(request, orders, action.status)) !== null
      if (!isConfirmed && needsConfirmation) {
        return renderConfirmation(request, reply, form, action.status, orders)
      }
    }
    const result = await updateOrders(store, selection, action, actor, {
      findRefundable: async (id) => (await payments.store.list(id)).some(isReceived),
      explainBlockedUndo: async (order) =>
        request.can(getUndoPermission(order.status))
          ? explainBlockedUndo(order, store, payments.store)
          : 'your role does not permit this',
    })
    const summary = buildBulkSummary(result, action, listQuery, getRequestFormatters(request))
    const rejected = result.rejected.flatMap(({ order }) => order ?? [])
    return renderBulkResult(reply, await loadList(request, query, rejected), summary)
  })

  app.post<{ Body: Fields | undefined }>(
    '/admin/orders/bulk/cancellation',
    WRITE,
    async (request, reply) => {
      const form = parseBulkForm(request.body ?? {})
      const orders = await loadBulkOrders(store, form)
      return renderConfirmation(request, reply, form, 'cancel', orders)
    },
  )

  // Opening the URL of a bulk form again, for example from the address bar, sends a GET.
  for (const path of ['/admin/orders/bulk', '/admin/orders/bulk/cancellation']) {
    app.get(path, WRITE, async (_request, reply) => reply.redirect('/admin/orders', 303))
  }
}

export default pages
