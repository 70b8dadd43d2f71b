import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../plugins/problem.js'
import { readerLocale } from '../../plugins/reader-locale.js'
import type { OrderBook } from '../book/order-book.js'
import { currencyChoices } from './currencies.js'
import { isEditGroup } from './edit-form.js'
import { figuresFor } from './figures.js'
import { historyView } from './history-view.js'
import { listOf, neighbours, placeUrl, readPlace } from './list-place.js'
import { isMessageCode, messageText, type MessageCode } from './order-messages.js'
import { orderView, type Notice, type Telling } from './order-view.js'
import { statusBefore } from '../order-changes.js'
import type { Order } from '../order.js'
import type { Placing } from '../placement/placing.js'

type Fields = Record<string, unknown>

/** What a request about an order is like. */
export interface OrderRoute {
  Params: { id: string }
  Querystring: Fields
  Body: Fields | undefined
}
export type OrderRequest = FastifyRequest<OrderRoute>

/** The answers that the pages of orders give. */
export function orderAnswers(book: OrderBook, placing: Placing | null) {
  const { timeZone } = book.calendar

  const figuresOf = (request: FastifyRequest) =>
    figuresFor(readerLocale(request.headers['accept-language']), timeZone)

  const missing = (reply: FastifyReply) => {
    const { wantsFragment, administrator } = reply.request
    if (wantsFragment) throw new Problem(404, 'There is no such order.')
    return reply.code(404).hypermedia({ page: 'orders/no-such-order' }, { administrator })
  }

  /** A message about an order in words, with the way back where there is one. */
  const messageOf = (request: OrderRequest, code: MessageCode, order: Order) => ({
    text: messageText(code, order),
    undo: canUndo(code, order)
      ? {
          action: placeUrl(readPlace(request.query), `/admin/orders/${order.id}/restore`),
          target: '#messages',
          swap: 'innerHTML',
          sync: '#order:drop',
          fields: [{ name: 'version', value: order.version }],
        }
      : null,
  })

  const canUndo = (code: MessageCode, order: Order): boolean =>
    (code === 'cancelled' && order.status === 'cancelled') ||
    (code === 'moved' && statusBefore(order, book.history(order.id) ?? []) !== undefined)

  /** The message that was left for this page. */
  function leftMessage(request: OrderRequest, reply: FastifyReply) {
    const left = request.wantsFragment ? null : reply.takeMessage()
    const order = left && isMessageCode(left.code) ? book.get(left.orderId) : null
    return left && order && isMessageCode(left.code) ? messageOf(request, left.code, order) : null
  }

  /** Other orders with the same id at the order source. */
  const sharersOf = ({ id, orderSourceId }: Order) =>
    orderSourceId === null
      ? []
      : book.withOrderSourceId(orderSourceId).filter((other) => String(other.id) !== id)

  /** Answers with the order's page, or with the parts of it that a change has touched. */
  async function show(
    request: OrderRequest,
    reply: FastifyReply,
    order: Order,
    telling: Telling & { isWhole?: boolean; message?: MessageCode } = {},
  ) {
    const { message, isWhole = true, ...told } = telling
    const place = readPlace(request.query)
    const group = told.form?.group ?? told.edited
    const around = request.wantsFragment ? null : await neighbours(book, order.id, place)
    const at = around === null ? place : { ...place, at: around.at }
    const locale = readerLocale(request.headers['accept-language'])
    const figures = figuresOf(request)
    const history = book.history(order.id) ?? []
    const beside = (other: Order | null | undefined, step: number) =>
      other && {
        orderNumber: other.orderNumber,
        href: placeUrl({ ...at, at: (at.at ?? 0) + step }, `/admin/orders/${other.id}`),
      }
    return reply.hypermedia(
      { page: 'orders/order', fragment: 'orders/_order-parts' },
      {
        administrator: request.administrator,
        order: orderView({
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
        currencies: told.form && currencyChoices(book.currencies(), locale),
        success: message ? messageOf(request, message, order) : leftMessage(request, reply),
        // Opening a form leaves what is told there, such as a way to undo.
        keepsMessage: request.method === 'GET' && !isWhole,
        list: {
          href: listOf(at, order.id),
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
    reply.leaveMessage({ code: message, orderId: order.id })
    return reply.redirect(placeUrl(readPlace(request.query), `/admin/orders/${order.id}`), 303)
  }

  /** What others have done since a page was made, for whoever wanted to change the order. */
  function overtaken(request: FastifyRequest, order: Order, version: number): Notice {
    const entries = historyView(order, book.history(order.id) ?? [], figuresOf(request))
    return {
      title: 'This order has changed since you opened it',
      text: 'Nothing was done. Look at what is new, then decide again.',
      entries: entries.filter((entry) => entry.version > version),
    }
  }

  return { figuresOf, missing, show, done, overtaken, sharersOf }
}
