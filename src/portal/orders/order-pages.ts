import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import adminPages from '../../plugins/admin-pages.js'
import type { ChangeContext, OrderStore } from '../../order-store/order-store.js'
import type { FieldChange, Order, HistoryEntry } from '../../orders/order.js'
import { createEditForm, isEditGroup, parseEditForm, parseVersion } from './edit-form.js'
import { buildContextUrl, parseListContext } from './list-context.js'
import { createOrderPresenter, type OrderRequest, type OrderRoute } from './order-presenter.js'
import { toLiveStatus, type OrderStatus } from '../../orders/order-status.js'
import { buildOrderView, explainInvalidTransition } from './order-view.js'
import type { Fulfilment } from '../../fulfilment/fulfilment.js'
import { saveEdit } from './save-edit.js'

const contextOf = (request: FastifyRequest, version: number): ChangeContext => ({
  by: request.administrator.email,
  ifVersions: [version],
})

/** How a version moved the status; `undefined` where it did not. */
const moveOf = (history: readonly HistoryEntry[], version: number): FieldChange | undefined =>
  history
    .find((entry) => entry.version === version)
    ?.changes.find(({ field }) => field === 'status')

/**
 * Whether a move of that version is the one that the same person asks for once more, such as where
 * the answer to a form was lost. What somebody else did is told as theirs.
 */
function isRepeat(
  order: Order,
  history: readonly HistoryEntry[],
  { by, version, to }: { by: string; version: number; to: OrderStatus },
): boolean {
  const next = history.find((entry) => entry.version === version + 1)
  return order.status === to && next?.by === by && moveOf(history, version + 1)?.to === to
}

/** The move right after a version, if it took the one before it back. */
function moveBack(history: readonly HistoryEntry[], version: number): FieldChange | undefined {
  const next = moveOf(history, version + 1)
  const last = history
    .filter((entry) => entry.version <= version)
    .flatMap(({ changes }) => changes)
    .find(({ field }) => field === 'status')
  return next?.to === (last?.from ?? 'pending') ? next : undefined
}

/** What is told of a move that took one back. */
const undoing = (move: FieldChange | undefined) =>
  move?.from === 'cancelled' ? 'restored' : 'undone'

interface Options {
  store: OrderStore
  placing: Fulfilment | null
}

const pages: FastifyPluginAsync<Options> = async (app, { store, placing }) => {
  await app.register(adminPages)
  const { timeZone } = store.calendar
  const { figuresOf, missing, show, done, overtaken } = createOrderPresenter(store, placing)

  app.get<OrderRoute>('/admin/orders/:id', async (request, reply) => {
    const order = store.get(request.params.id)
    if (order === null) return missing(reply)
    const { group } = request.query
    return show(request, reply, order, isEditGroup(group) ? { edited: group } : {})
  })

  app.get<OrderRoute>('/admin/orders/:id/edit', async (request, reply) => {
    const order = store.get(request.params.id)
    const { group } = request.query
    if (order === null || !isEditGroup(group)) return missing(reply)
    const form = createEditForm(order, group, figuresOf(request))
    return show(request, reply, order, { form, isWhole: false })
  })

  app.post<OrderRoute>('/admin/orders/:id/edit', async (request, reply) => {
    const order = store.get(request.params.id)
    const { group } = request.query
    if (order === null || !isEditGroup(group)) return missing(reply)
    const { form, changes } = parseEditForm(group, request.body ?? {})
    if (changes === null) {
      return show(request, reply.code(422), order, { form, isWhole: false })
    }
    const saved = await saveEdit(store, order.id, changes, form, request.administrator.email)
    switch (saved.outcome) {
      case 'changed':
        return done(request, reply, saved.order, 'saved')
      case 'unchanged':
        return done(request, reply, saved.order, 'unchanged')
      case 'version_conflict':
        return show(request, reply.code(412), saved.order, { form, conflict: true })
      default:
        return missing(reply)
    }
  })

  app.post<OrderRoute>('/admin/orders/:id/status', async (request, reply) => {
    const { id } = request.params
    const body = request.body ?? {}
    const to = toLiveStatus(body.status)
    const order = store.get(id)
    if (order === null) return missing(reply)
    if (to === undefined) {
      const notice = { title: 'There is no such status', text: 'Nothing was changed.', entries: [] }
      return show(request, reply.code(422), order, { notice })
    }
    const version = parseVersion(body)
    const command = { type: 'edit', changes: { status: to } } as const
    const moved = await store.apply(id, command, contextOf(request, version))
    switch (moved.outcome) {
      case 'changed':
      case 'unchanged':
        return done(request, reply, moved.order, 'moved')
      case 'invalid_transition':
        return show(request, reply.code(409), moved.order, {
          notice: explainInvalidTransition(moved.order, to),
        })
      case 'version_conflict': {
        const asked = { by: request.administrator.email, version, to }
        if (isRepeat(moved.order, store.getHistory(id) ?? [], asked)) {
          return done(request, reply, moved.order, 'moved')
        }
        const notice = overtaken(request, moved.order, version)
        return show(request, reply.code(412), moved.order, { notice })
      }
      case 'not_found':
        return missing(reply)
    }
  })

  app.get<OrderRoute>('/admin/orders/:id/cancel', async (request, reply) => {
    const order = store.get(request.params.id)
    if (order === null) return missing(reply)
    const place = parseListContext(request.query)
    if (order.status === 'cancelled') {
      return request.wantsFragment
        ? show(request, reply, order)
        : reply.redirect(buildContextUrl(place, `/admin/orders/${order.id}`), 303)
    }
    return reply.renderView(
      { page: 'portal/orders/cancel', fragment: 'portal/orders/_cancel-dialog' },
      {
        administrator: request.administrator,
        order: buildOrderView({
          order,
          history: store.getHistory(order.id) ?? [],
          place,
          figures: figuresOf(request),
          timeZone,
          placing,
          sharers: [],
        }),
      },
    )
  })

  app.post<OrderRoute>('/admin/orders/:id/cancel', async (request, reply) => {
    const { id } = request.params
    const version = parseVersion(request.body ?? {})
    const cancelled = await store.apply(id, { type: 'cancel' }, contextOf(request, version))
    if (cancelled.outcome === 'not_found') return missing(reply)
    const { order } = cancelled
    const asked = { by: request.administrator.email, version, to: 'cancelled' } as const
    if (
      cancelled.outcome === 'version_conflict' &&
      !isRepeat(order, store.getHistory(id) ?? [], asked)
    ) {
      const notice = overtaken(request, order, version)
      return show(request, reply.code(412), order, { notice })
    }
    return done(request, reply, order, 'cancelled')
  })

  async function undo(request: OrderRequest, reply: FastifyReply, version: number) {
    const { id } = request.params
    const undone = await store.apply(id, { type: 'undo' }, contextOf(request, version))
    if (undone.outcome === 'not_found') return missing(reply)
    const { outcome, order } = undone
    const history = store.getHistory(id) ?? []
    if (outcome === 'unchanged') return done(request, reply, order, 'unchanged')
    if (outcome === 'changed') {
      return done(request, reply, order, undoing(moveOf(history, order.version)))
    }
    // Sent once more, because nobody saw that it was done.
    const known = order.version === version + 1 ? moveBack(history, version) : undefined
    if (known) return done(request, reply, order, undoing(known))
    // A cancellation is the same one still, whatever has been edited since.
    const later = history.filter((entry) => entry.version > version)
    const isSame = !later.some((entry) => moveOf(history, entry.version))
    if (isSame && order.status === 'cancelled' && version > 0 && version < order.version) {
      return undo(request, reply, order.version)
    }
    const notice = overtaken(request, order, version)
    return show(request, reply.code(412), order, { notice })
  }

  app.post<OrderRoute>('/admin/orders/:id/restore', async (request, reply) =>
    undo(request, reply, parseVersion(request.body ?? {})),
  )
}

export default pages
