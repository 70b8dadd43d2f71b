import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { getRequestFormatters } from '../../core/http/locale.js'
import { joinWithAnd, STATUS_LABELS, toInlineLabel } from '../labels.js'
import { getUndoPermission, requireStatusPermission } from '../order-permissions.js'
import { ORDER_STATUSES, type LiveStatus } from '../order-status.js'
import type { Order } from '../order.js'
import {
  getStatusAfter,
  loadBulkOrders,
  parseBulkAction,
  parseBulkForm,
  updateOrders,
  type BulkAction,
  type BulkForm,
  type BulkUpdateResult,
} from './bulk-actions.js'
import { loadList } from './list-pages.js'
import { describeConsequences, simulateChanges } from './order-extensions.js'

/** Maximum number of orders named per reason. */
const MAX_NAMED_ORDERS = 10

const formatCount = (count: number, format: Formatters): string =>
  count === 1 ? '1 order' : `${format.count(count)} orders`

function describeChanged(count: number, action: BulkAction, format: Formatters): string {
  const status = getStatusAfter(action)
  const counted = formatCount(count, format)
  return status === null
    ? `Change undone for ${counted}.`
    : `${counted} ${count === 1 ? 'is' : 'are'} now ${toInlineLabel(status)}.`
}

/** Groups rejected orders by reason; each group names a few orders and counts the others. */
function groupByReason(rejected: BulkUpdateResult['rejected']) {
  const groups = new Map<string, string[]>()
  for (const { order, id, reason } of rejected) {
    const orderNumbers = groups.get(reason) ?? []
    groups.set(reason, [...orderNumbers, order?.orderNumber ?? `Order ${id}`])
  }
  return [...groups].map(([reason, orderNumbers]) => {
    const others = orderNumbers.length - MAX_NAMED_ORDERS
    const names = orderNumbers.slice(0, MAX_NAMED_ORDERS)
    return {
      reason,
      orderNumbers: others > 0 ? `${names.join(', ')} and ${others} more` : joinWithAnd(names),
    }
  })
}

/**
 * The message after a bulk action: what was changed, the rejected orders by reason, and a form that
 * undoes the change.
 *
 * @param listQuery the query string of the list that the orders were selected in
 */
function buildBulkSummary(
  result: BulkUpdateResult,
  action: BulkAction,
  listQuery: string,
  format: Formatters,
) {
  const { changed, unchanged, rejected } = result
  const sentences = [
    ...(changed.length > 0 ? [describeChanged(changed.length, action, format)] : []),
    ...(unchanged.length > 0
      ? [`${formatCount(unchanged.length, format)} already had this status.`]
      : []),
    ...(rejected.length > 0
      ? [
          `${formatCount(rejected.length, format)} ${rejected.length === 1 ? 'was' : 'were'} not changed:`,
        ]
      : []),
  ]
  return {
    text: sentences.join(' '),
    rejected: groupByReason(rejected),
    undo:
      changed.length === 0 || action.type === 'undo'
        ? null
        : {
            action: '/admin/orders/bulk',
            target: '#orders',
            swap: 'innerMorph',
            sync: '#orders:drop',
            fields: [
              ...changed.map(({ id, version }) => ({ name: 'order', value: `${id}:${version}` })),
              { name: 'list', value: listQuery },
              { name: 'action', value: 'undo' },
            ],
          },
  }
}

export type ConfirmedAction = 'cancel' | LiveStatus

/** Maximum number of orders listed in a confirmation. */
const MAX_LISTED_ORDERS = 100

const describeEffect = (action: ConfirmedAction): string =>
  action === 'cancel'
    ? 'Their records are kept. You can undo this.'
    : action === 'refunded'
      ? 'This records the refunds; it does not send money. You can undo this.'
      : 'You can undo this.'

/** Counts the orders by their current status: `3 pending and 1 paid`. */
const describeStatuses = (orders: readonly Order[], format: Formatters): string =>
  joinWithAnd(
    ORDER_STATUSES.flatMap((status) => {
      const { length } = orders.filter((order) => order.status === status)
      return length === 0 ? [] : [`${format.count(length)} ${toInlineLabel(status)}`]
    }),
  )

/** @param consequences see `describeConsequences` */
function buildBulkConfirmation(
  orders: readonly Order[],
  action: ConfirmedAction,
  consequences: string | null,
  format: Formatters,
) {
  const isSingle = orders.length === 1
  const counted = formatCount(orders.length, format)
  const status = action === 'cancel' ? null : toInlineLabel(action)
  return {
    action,
    title: status === null ? `Cancel ${counted}?` : `Mark ${counted} as ${status}?`,
    effect: describeEffect(action),
    consequences,
    submitLabel: status === null ? `Cancel ${isSingle ? 'order' : counted}` : `Mark as ${status}`,
    isDestructive: status === null || action === 'refunded',
    keepLabel: status === null ? `Keep ${isSingle ? 'order' : 'orders'}` : 'Keep status',
    statuses: isSingle ? null : describeStatuses(orders, format),
    orders: orders.slice(0, MAX_LISTED_ORDERS).map((order) => ({
      ...order,
      amount: format.money(order.amountMinor, order.currency),
      statusLabel: STATUS_LABELS[order.status],
    })),
    unlisted:
      orders.length > MAX_LISTED_ORDERS ? format.count(orders.length - MAX_LISTED_ORDERS) : null,
  }
}

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
