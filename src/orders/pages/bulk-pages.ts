import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { getRequestFormatters } from '../../core/http/locale.js'
import type { Order } from '../order.js'
import { getUndoPermission, requireStatusPermission } from '../status-permission.js'
import {
  getStatusAfter,
  loadBulkOrders,
  parseBulkAction,
  parseBulkForm,
  updateOrders,
  type BulkForm,
} from './bulk-actions.js'
import { buildBulkConfirmation, buildBulkSummary, type ConfirmedAction } from './bulk-view.js'
import { describeConsequences, simulateChanges } from './consequences.js'
import { loadList } from './list-pages.js'

const WRITE = { config: { permission: 'orders:write' } } as const

interface Route {
  Body: Record<string, unknown> | undefined
}

const NOTHING_SELECTED = { text: 'Select orders and an action first.', rejected: [], undo: null }

/** Changes of several orders at once. */
const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, orderPage } = app

  /** Renders the list after a bulk action, with its message. */
  const renderBulkResult = (
    reply: FastifyReply,
    list: Awaited<ReturnType<typeof loadList>>,
    success?: ReturnType<typeof buildBulkSummary>,
  ) =>
    reply.renderView({ page: 'orders/orders', fragment: 'orders/_orders-parts' }, { list, success })

  /** Says what a bulk action leads to; `null` if there is nothing to say. */
  async function describeBulkAction(
    request: FastifyRequest,
    orders: readonly Order[],
    action: ConfirmedAction,
  ): Promise<string | null> {
    const status = action === 'cancel' ? 'cancelled' : action
    const changed: Order[] = []
    for (const order of orders) {
      if ((await orderPage.findStatusProblem(order, { status, isUndo: false })) === null) {
        changed.push(order)
      }
    }
    const command: Parameters<typeof simulateChanges>[1] =
      action === 'cancel' ? { type: 'cancel' } : { type: 'edit', changes: { status: action } }
    const changes = simulateChanges(changed, command)
    return describeConsequences(await orderPage.loadConsequences(changed), changes, {
      isSingle: false,
      isRefund: false,
      format: getRequestFormatters(request),
    })
  }

  /** Asks for confirmation of a bulk action; for `consequences`, see `describeBulkAction`. */
  async function renderConfirmation(
    request: FastifyRequest,
    reply: FastifyReply,
    form: BulkForm,
    action: ConfirmedAction,
    orders: readonly Order[],
    consequences: string | null,
  ) {
    if (orders.length === 0) {
      return renderBulkResult(reply, await loadList(request, form.query), NOTHING_SELECTED)
    }
    return reply.renderView(
      { page: 'orders/bulk-confirm', fragment: 'orders/_bulk-confirm' },
      {
        ...buildBulkConfirmation(orders, action, consequences, getRequestFormatters(request)),
        // Only the displayed versions are confirmed; orders that have changed since are rejected.
        selection: form.isForAllMatching ? orders : form.selection,
        listQuery: form.listQuery,
      },
    )
  }

  app.post<Route>('/admin/orders/bulk', WRITE, async (request, reply) => {
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
      const consequences = await describeBulkAction(request, orders, action.status)
      const needsConfirmation =
        form.isForAllMatching || action.status === 'refunded' || consequences !== null
      if (!isConfirmed && needsConfirmation) {
        return renderConfirmation(request, reply, form, action.status, orders, consequences)
      }
    }
    const result = await updateOrders(store, selection, action, actor, async (order) => {
      const status = getStatusAfter(action)
      if (status !== null) return orderPage.findStatusProblem(order, { status, isUndo: false })
      if (!request.can(getUndoPermission(order.status))) return 'your role does not permit this'
      return orderPage.findUndoProblem(order, (await store.getHistory(order.id)) ?? [])
    })
    const summary = buildBulkSummary(result, action, listQuery, getRequestFormatters(request))
    const rejected = result.rejected.flatMap(({ order }) => order ?? [])
    return renderBulkResult(reply, await loadList(request, query, rejected), summary)
  })

  app.post<Route>('/admin/orders/bulk/cancellation', WRITE, async (request, reply) => {
    const form = parseBulkForm(request.body ?? {})
    const orders = await loadBulkOrders(store, form)
    const consequences = await describeBulkAction(request, orders, 'cancel')
    return renderConfirmation(request, reply, form, 'cancel', orders, consequences)
  })

  // Opening the URL of a bulk form again, for example from the address bar, sends a GET.
  for (const path of ['/admin/orders/bulk', '/admin/orders/bulk/cancellation']) {
    app.get(path, WRITE, async (_request, reply) => reply.redirect('/admin/orders', 303))
  }
}

export default pages
