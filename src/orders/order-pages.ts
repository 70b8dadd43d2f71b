import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import adminPages from '../plugins/admin-pages.js'
import { readerLocale } from '../plugins/reader-locale.js'
import type { ChangeContext, ChangeOutcome, OrderBook } from './book/order-book.js'
import { currencyChoices } from './currencies.js'
import { editFormOf, isEditGroup, readEditForm, versionIn, type EditForm } from './edit-form.js'
import { figuresFor } from './figures.js'
import { historyView, statusBeforeCancelling } from './history-view.js'
import { listOf, neighbours, placeUrl, readPlace } from './list-place.js'
import { isMessageCode, messageText, type MessageCode } from './order-messages.js'
import { movesFrom, ORDER_STATUSES } from './order-status.js'
import { orderView, refusedMove, type Notice, type Telling } from './order-view.js'
import type { Order, OrderChanges } from './order.js'

type Fields = Record<string, unknown>
interface OrderRoute {
  Params: { id: string }
  Querystring: Fields
  Body: Fields | undefined
}
type OrderRequest = FastifyRequest<OrderRoute>

const pages: FastifyPluginAsync<{ book: OrderBook }> = async (app, { book }) => {
  await app.register(adminPages)
  const { timeZone } = book.calendar

  const figuresOf = (request: FastifyRequest) =>
    figuresFor(readerLocale(request.headers['accept-language']), timeZone)

  const contextOf = (request: FastifyRequest, version: number): ChangeContext => ({
    by: request.administrator.email,
    ifVersions: [version],
  })

  const missing = (reply: FastifyReply) =>
    reply.code(404).hypermedia(
      { page: 'orders/no-such-order', fragment: 'errors/_failure' },
      {
        administrator: reply.request.administrator,
        message: 'There is no such order.',
      },
    )

  /** A message about an order in words, with the way back where there is one. */
  const messageOf = (request: OrderRequest, code: MessageCode, order: Order) => ({
    text: messageText(code, order),
    undo:
      code === 'cancelled' && order.status === 'cancelled'
        ? placeUrl(readPlace(request.query), `/admin/orders/${order.id}/restore`)
        : null,
  })

  /** The message that was left for this page. */
  function leftMessage(request: OrderRequest, reply: FastifyReply) {
    const left = request.wantsFragment ? null : reply.takeMessage()
    const order = left && isMessageCode(left.code) ? book.get(left.orderId) : null
    return left && order && isMessageCode(left.code) ? messageOf(request, left.code, order) : null
  }

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
        order: orderView({ order, history, place: at, figures, timeZone, ...told }),
        group,
        isWhole,
        currencies: told.form && currencyChoices(book.currencies(), locale),
        message: message ? messageOf(request, message, order) : leftMessage(request, reply),
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

  /**
   * Saves an edit. Where the order has changed since, but by the same person and in other fields
   * only, such as in another form of the same page, nothing stands against it.
   */
  async function save(
    request: OrderRequest,
    changes: OrderChanges,
    form: EditForm,
  ): Promise<ChangeOutcome> {
    const { id } = request.params
    const outcome = await book.change(id, changes, contextOf(request, form.version))
    if (outcome.outcome !== 'stale' || form.version === 0) return outcome
    const fields = Object.keys(changes)
    const since = (book.history(id) ?? []).filter(({ version }) => version > form.version)
    const isOwn =
      since.length === outcome.order.version - form.version &&
      since.every(
        (entry) =>
          entry.by === request.administrator.email &&
          entry.changes.every(({ field }) => !fields.includes(field) && field !== 'status'),
      )
    return isOwn ? book.change(id, changes, contextOf(request, outcome.order.version)) : outcome
  }

  app.get<OrderRoute>('/admin/orders/:id', async (request, reply) => {
    const order = book.get(request.params.id)
    if (order === null) return missing(reply)
    const { group } = request.query
    return show(request, reply, order, isEditGroup(group) ? { edited: group } : {})
  })

  app.get<OrderRoute>('/admin/orders/:id/edit', async (request, reply) => {
    const order = book.get(request.params.id)
    const { group } = request.query
    if (order === null || !isEditGroup(group)) return missing(reply)
    return show(request, reply, order, { form: editFormOf(order, group), isWhole: false })
  })

  app.post<OrderRoute>('/admin/orders/:id/edit', async (request, reply) => {
    const order = book.get(request.params.id)
    const { group } = request.query
    if (order === null || !isEditGroup(group)) return missing(reply)
    const { form, changes } = readEditForm(group, request.body ?? {})
    if (changes === null) {
      return show(request, reply.code(422), order, { form, isWhole: false })
    }
    const saved = await save(request, changes, form)
    switch (saved.outcome) {
      case 'changed':
        return done(request, reply, saved.order, 'saved')
      case 'unchanged':
        return done(request, reply, saved.order, 'unchanged')
      case 'stale':
        return show(request, reply.code(412), saved.order, { form, conflict: true, isWhole: false })
      default:
        return missing(reply)
    }
  })

  app.post<OrderRoute>('/admin/orders/:id/status', async (request, reply) => {
    const { id } = request.params
    const body = request.body ?? {}
    const to = ORDER_STATUSES.find((status) => status === body.status)
    const order = book.get(id)
    if (order === null) return missing(reply)
    if (to === undefined || to === 'cancelled') {
      const notice = { title: 'There is no such status', text: 'Nothing was changed.', entries: [] }
      return show(request, reply.code(422), order, { notice })
    }
    const version = versionIn(body)
    const moved = await book.change(id, { status: to }, contextOf(request, version))
    switch (moved.outcome) {
      case 'changed':
      case 'unchanged':
        return done(request, reply, moved.order, 'moved')
      case 'no such move':
        return show(request, reply.code(409), moved.order, { notice: refusedMove(moved.order, to) })
      case 'stale': {
        const notice = overtaken(request, moved.order, version)
        return show(request, reply.code(412), moved.order, { notice })
      }
      case 'no such order':
        return missing(reply)
    }
  })

  app.get<OrderRoute>('/admin/orders/:id/cancel', async (request, reply) => {
    const order = book.get(request.params.id)
    if (order === null) return missing(reply)
    const place = readPlace(request.query)
    if (order.status === 'cancelled') {
      return request.wantsFragment
        ? show(request, reply, order)
        : reply.redirect(placeUrl(place, `/admin/orders/${order.id}`), 303)
    }
    return reply.hypermedia(
      { page: 'orders/cancel', fragment: 'orders/_cancel-dialog' },
      {
        administrator: request.administrator,
        order: orderView({ order, history: [], place, figures: figuresOf(request), timeZone }),
      },
    )
  })

  app.post<OrderRoute>('/admin/orders/:id/cancel', async (request, reply) => {
    const version = versionIn(request.body ?? {})
    const cancelled = await book.cancel(request.params.id, contextOf(request, version))
    if (cancelled.outcome === 'no such order') return missing(reply)
    const { order } = cancelled
    if (cancelled.outcome === 'stale' && order.status !== 'cancelled') {
      const notice = overtaken(request, order, version)
      return show(request, reply.code(412), order, { notice })
    }
    return done(request, reply, order, 'cancelled')
  })

  app.post<OrderRoute>('/admin/orders/:id/restore', async (request, reply) => {
    const { id } = request.params
    const order = book.get(id)
    if (order === null) return missing(reply)
    if (order.status !== 'cancelled') return done(request, reply, order, 'unchanged')
    const before = statusBeforeCancelling(book.history(id) ?? [])
    const opened = await book.change(id, { status: 'pending' }, contextOf(request, order.version))
    if (opened.outcome !== 'changed') {
      const now = book.get(id) ?? order
      const notice = overtaken(request, now, order.version)
      return show(request, reply.code(412), now, { notice })
    }
    if (before === null || !movesFrom('pending').includes(before) || before === 'cancelled') {
      return done(request, reply, opened.order, 'restored')
    }
    const context = contextOf(request, opened.order.version)
    const restored = await book.change(id, { status: before }, context)
    const now = restored.outcome === 'changed' ? restored.order : opened.order
    return done(request, reply, now, 'restored')
  })
}

export default pages
