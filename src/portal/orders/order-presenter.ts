import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../http/problem.js'
import { getLocale } from '../../http/locale.js'
import type { OrderStore } from '../../order-store/order-store.js'
import { buildCurrencyChoices } from './currency-choices.js'
import { isEditGroup } from './edit-form.js'
import { getFormatters } from '../formatters.js'
import { buildHistoryView } from './history-view.js'
import {
  getContextListUrl,
  findNeighbours,
  buildContextUrl,
  parseListContext,
} from './list-context.js'
import { isMessageCode, formatFlashMessage, type MessageCode } from './flash-messages.js'
import { buildOrderView, type Notice, type OrderViewOptions } from './order-view.js'
import { getPreviousStatus } from '../../orders/apply-changes.js'
import type { Order } from '../../orders/order.js'
import type { Fulfilment } from '../../fulfilment/fulfilment.js'

type Fields = Record<string, unknown>

/** What a request about an order is like. */
export interface OrderRoute {
  Params: { id: string }
  Querystring: Fields
  Body: Fields | undefined
}
export type OrderRequest = FastifyRequest<OrderRoute>

/** The answers that the pages of orders give. */
export function createOrderPresenter(store: OrderStore, placing: Fulfilment | null) {
  const { timeZone } = store.calendar

  const figuresOf = (request: FastifyRequest) =>
    getFormatters(getLocale(request.headers['accept-language']), timeZone)

  const missing = (reply: FastifyReply) => {
    const { wantsFragment, administrator } = reply.request
    if (wantsFragment) throw new Problem(404, 'There is no such order.')
    return reply.code(404).renderView({ page: 'portal/orders/order-not-found' }, { administrator })
  }

  /** A message about an order in words, with the way back where there is one. */
  const messageOf = (request: OrderRequest, code: MessageCode, order: Order) => ({
    text: formatFlashMessage(code, order),
    undo: canUndo(code, order)
      ? {
          action: buildContextUrl(
            parseListContext(request.query),
            `/admin/orders/${order.id}/restore`,
          ),
          target: '#messages',
          swap: 'innerHTML',
          sync: '#order:drop',
          fields: [{ name: 'version', value: order.version }],
        }
      : null,
  })

  const canUndo = (code: MessageCode, order: Order): boolean =>
    (code === 'cancelled' && order.status === 'cancelled') ||
    (code === 'moved' && getPreviousStatus(order, store.getHistory(order.id) ?? []) !== undefined)

  /** The message that was left for this page. */
  function leftMessage(request: OrderRequest, reply: FastifyReply) {
    const left = request.wantsFragment ? null : reply.consumeFlash()
    const order = left && isMessageCode(left.code) ? store.get(left.orderId) : null
    return left && order && isMessageCode(left.code) ? messageOf(request, left.code, order) : null
  }

  /** Other orders with the same id at the order source. */
  const sharersOf = ({ id, orderSourceId }: Order) =>
    orderSourceId === null
      ? []
      : store.findByOrderSourceId(orderSourceId).filter((other) => String(other.id) !== id)

  /** Answers with the order's page, or with the parts of it that a change has touched. */
  async function show(
    request: OrderRequest,
    reply: FastifyReply,
    order: Order,
    telling: OrderViewOptions & { isWhole?: boolean; message?: MessageCode } = {},
  ) {
    const { message, isWhole = true, ...told } = telling
    const place = parseListContext(request.query)
    const group = told.form?.group ?? told.edited
    const around = request.wantsFragment ? null : await findNeighbours(store, order.id, place)
    const at = around === null ? place : { ...place, at: around.at }
    const locale = getLocale(request.headers['accept-language'])
    const figures = figuresOf(request)
    const history = store.getHistory(order.id) ?? []
    const beside = (other: Order | null | undefined, step: number) =>
      other && {
        orderNumber: other.orderNumber,
        href: buildContextUrl({ ...at, at: (at.at ?? 0) + step }, `/admin/orders/${other.id}`),
      }
    return reply.renderView(
      { page: 'portal/orders/order', fragment: 'portal/orders/_order-parts' },
      {
        administrator: request.administrator,
        order: buildOrderView({
          order,
          history,
          place: at,
          figures,
          timeZone,
          placing,
          sharers: sharersOf(order),
          ...told,
        }),
        group,
        isWhole,
        currencies: told.form && buildCurrencyChoices(store.listCurrencies(), locale),
        success: message ? messageOf(request, message, order) : leftMessage(request, reply),
        // Opening a form leaves what is told there, such as a way to undo.
        keepsMessage: request.method === 'GET' && !isWhole,
        list: {
          href: getContextListUrl(at, order.id),
          position: around && {
            number: figures.count(around.at + 1),
            total: figures.count(around.total),
          },
          previous: beside(around?.previous, -1),
          next: beside(around?.next, 1),
        },
      },
    )
  }

  /** Tells what was done: in the page where htmx asked, else on the page that it leads to. */
  function done(request: OrderRequest, reply: FastifyReply, order: Order, message: MessageCode) {
    const { group } = request.query
    if (request.wantsFragment) {
      return show(request, reply, order, {
        message,
        ...(isEditGroup(group) ? { edited: group } : {}),
      })
    }
    reply.setFlash({ code: message, orderId: order.id })
    return reply.redirect(
      buildContextUrl(parseListContext(request.query), `/admin/orders/${order.id}`),
      303,
    )
  }

  /** What others have done since a page was made, for whoever wanted to change the order. */
  function overtaken(request: FastifyRequest, order: Order, version: number): Notice {
    const entries = buildHistoryView(order, store.getHistory(order.id) ?? [], figuresOf(request))
    return {
      title: 'This order has changed since you opened it',
      text: 'Nothing was done. Look at what is new, then decide again.',
      entries: entries.filter((entry) => entry.version > version),
    }
  }

  return { figuresOf, missing, show, done, overtaken, sharersOf }
}
