import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { getLocale, getRequestFormatters } from '../../core/http/locale.js'
import { Problem } from '../../core/http/problem.js'
import { formatFlashMessage, isMessageCode, type MessageCode } from '../labels.js'
import { getPreviousStatus } from '../order-command.js'
import { getUndoPermission } from '../order-permissions.js'
import { getStatusBeforeCancellation } from '../order-status.js'
import type { HistoryEntry, Order } from '../order.js'
import { isEditGroup } from './edit-form.js'
import { buildHistoryView } from './history-view.js'
import {
  buildContextUrl,
  findNeighbours,
  getContextListUrl,
  parseListContext,
  type ListContext,
} from './list-context.js'
import { formatTotal } from './list-view.js'
import {
  createOrderExtensions,
  type Notice,
  type OrderData,
  type OrderPageState,
} from './order-extensions.js'
import { buildCurrencyChoices } from './order-fields.js'
import { buildOrderView } from './order-view.js'

export interface OrderRoute {
  Params: { id: string }
  Querystring: Record<string, unknown>
  Body: Record<string, unknown> | undefined
}
export type OrderRequest = FastifyRequest<OrderRoute>

interface RenderOptions extends OrderPageState {
  message?: MessageCode
  /** For htmx, only the form's group is swapped */
  isGroupOnly?: boolean
}

/** Renders the pages of orders, with the sections that features add. */
export function createOrderPage({ orders: store }: FastifyInstance) {
  const extensions = createOrderExtensions()
  const { timeZone } = store.calendar

  const renderNotFound = (reply: FastifyReply) => {
    if (reply.request.wantsFragment) throw new Problem(404, 'Order not found.')
    return reply.code(404).renderView({ page: 'orders/order-not-found' }, {})
  }

  const getOrderUrl = (request: OrderRequest, order: Order): string =>
    buildContextUrl(parseListContext(request.query), `/admin/orders/${order.id}`)

  /** Why the latest change of an order's status cannot be undone, as a clause; `null` if it can. */
  async function findUndoProblem(
    order: Order,
    history: readonly HistoryEntry[],
  ): Promise<string | null> {
    const status = getPreviousStatus(order, history)
    return status === undefined
      ? null
      : extensions.findStatusProblem(order, { status, isUndo: true })
  }

  /** The form that undoes the latest change of the status; `null` if it cannot be undone. */
  async function buildUndo(request: OrderRequest, order: Order, history: readonly HistoryEntry[]) {
    const previous =
      order.status === 'cancelled'
        ? getStatusBeforeCancellation(order)
        : getPreviousStatus(order, history)
    if (previous == null || !request.can(getUndoPermission(order.status))) return null
    if ((await findUndoProblem(order, history)) !== null) return null
    return {
      action: buildContextUrl(parseListContext(request.query), `/admin/orders/${order.id}/restore`),
      target: '#messages',
      swap: 'innerHTML',
      sync: '#order:drop',
      fields: [{ name: 'version', value: order.version }],
    }
  }

  const buildMessage = async (request: OrderRequest, code: MessageCode, order: Order) => ({
    text: formatFlashMessage(code, order),
    undo:
      code === 'moved' || (code === 'cancelled' && order.status === 'cancelled')
        ? await buildUndo(request, order, (await store.getHistory(order.id)) ?? [])
        : null,
  })

  /** Users can undo their own last change later, too. */
  async function buildHistoryUndo(request: OrderRequest, { order, history }: OrderData) {
    const [latest] = history
    const isOwn = latest?.by === request.actor
    const isStatusChange = latest?.changes.some(({ field }) => field === 'status')
    return isOwn && isStatusChange ? buildUndo(request, order, history) : null
  }

  async function consumeMessage(request: OrderRequest, reply: FastifyReply) {
    const flash = request.wantsFragment ? null : reply.consumeFlash()
    if (!flash || !isMessageCode(flash.code)) return null
    const order = await store.get(flash.orderId)
    return order && buildMessage(request, flash.code, order)
  }

  async function loadOrderData(
    request: OrderRequest,
    order: Order,
    context: ListContext = parseListContext(request.query),
  ): Promise<OrderData> {
    const history = (await store.getHistory(order.id)) ?? []
    return { order, history, context, format: getRequestFormatters(request), timeZone }
  }

  async function buildView(data: OrderData, state: OrderPageState = {}) {
    const sections = await extensions.buildSections(data, state)
    const describers = await extensions.loadConsequences([data.order])
    return buildOrderView(data, { sections, describers }, state)
  }

  /** Renders an order's page; for htmx, only the parts that a change affects. */
  async function render(
    request: OrderRequest,
    reply: FastifyReply,
    order: Order,
    { message, isGroupOnly = false, ...state }: RenderOptions = {},
  ) {
    const requested = parseListContext(request.query)
    const neighbours = request.wantsFragment
      ? null
      : await findNeighbours(store, order.id, requested)
    const context = neighbours ? { ...requested, position: neighbours.position } : requested
    const data = await loadOrderData(request, order, context)
    const buildLink = (other: Order | null | undefined, offset: number) =>
      other && {
        orderNumber: other.orderNumber,
        href: buildContextUrl(
          { ...context, position: (context.position ?? 0) + offset },
          `/admin/orders/${other.id}`,
        ),
      }
    const { form } = state
    const locale = getLocale(request.headers['accept-language'])
    return reply.renderView(
      { page: 'orders/order', fragment: 'orders/_order-parts' },
      {
        order: await buildView(data, state),
        undo: await buildHistoryUndo(request, data),
        group: form?.group ?? state.editedGroup,
        isGroupOnly,
        currencies: form && buildCurrencyChoices(await store.listCurrencies(), locale),
        success: await (message
          ? buildMessage(request, message, order)
          : consumeMessage(request, reply)),
        // Opening a form keeps the message, which may have an undo button.
        keepsMessage: request.method === 'GET' && isGroupOnly,
        list: {
          href: getContextListUrl(context, order.id),
          position: neighbours && {
            number: data.format.count(neighbours.position + 1),
            total: formatTotal(neighbours, data.format),
          },
          previous: buildLink(neighbours?.previous, -1),
          next: buildLink(neighbours?.next, 1),
        },
      },
    )
  }

  /** Shows the order instead of a dialog that cannot be opened now. */
  const renderInstead = (
    request: OrderRequest,
    reply: FastifyReply,
    order: Order,
    state: OrderPageState = {},
  ) =>
    request.wantsFragment
      ? render(request, reply, order, state)
      : reply.redirect(getOrderUrl(request, order), 303)

  /** Reports success: for htmx on the updated page, otherwise with a redirect and flash message. */
  function confirm(request: OrderRequest, reply: FastifyReply, order: Order, message: MessageCode) {
    const { group } = request.query
    if (request.wantsFragment) {
      const state = isEditGroup(group) ? { editedGroup: group } : {}
      return render(request, reply, order, { ...state, message })
    }
    reply.setFlash({ code: message, orderId: order.id })
    return reply.redirect(getOrderUrl(request, order), 303)
  }

  /** Shows an order that has changed since `version`, with the changes. */
  async function renderConflict(
    request: OrderRequest,
    reply: FastifyReply,
    order: Order,
    version: number,
    state: OrderPageState = {},
  ) {
    const format = getRequestFormatters(request)
    const entries = buildHistoryView(order, (await store.getHistory(order.id)) ?? [], format)
    const notice: Notice = {
      title: 'This order has changed since you opened it',
      text: 'Your change was not saved. Check what has changed, then try again.',
      entries: entries.filter((entry) => entry.version > version),
    }
    return render(request, reply.code(412), order, { ...state, notice })
  }

  return {
    ...extensions,
    findUndoProblem,
    /** Builds the view of an order for a dialog. */
    buildDialogView: async (request: OrderRequest, order: Order) =>
      buildView(await loadOrderData(request, order)),
    render,
    renderInstead,
    renderNotFound,
    confirm,
    renderConflict,
  }
}

export type OrderPage = ReturnType<typeof createOrderPage>
