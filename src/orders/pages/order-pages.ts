import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ChangeContext } from '../store/order-store.js'
import {
  getEditPermission,
  getUndoPermission,
  RECALCULATED_FIELDS,
  requireStatusPermission,
} from '../status-permission.js'
import { toLiveStatus, type OrderStatus } from '../order-status.js'
import {
  createEditForm,
  getGroupPermission,
  isEditGroup,
  omitUnchanged,
  parseEditForm,
  parseVersion,
} from './edit-form.js'
import type { OrderRequest, OrderRoute } from './order-presenter.js'
import { explainInvalidTransition } from './order-view.js'
import { saveEdit } from './save-edit.js'
import type { FieldChange, HistoryEntry, Order } from '../order.js'

/** The status change that created a version; `undefined` if the status did not change. */
const findStatusChange = (
  history: readonly HistoryEntry[],
  version: number,
): FieldChange | undefined =>
  history
    .find((entry) => entry.version === version)
    ?.changes.find(({ field }) => field === 'status')

const hasStatusChangeAfter = (history: readonly HistoryEntry[], version: number): boolean =>
  history.some(
    (entry) => entry.version > version && findStatusChange(history, entry.version) !== undefined,
  )

/**
 * Whether the same user has already made the status change that now conflicts, for example because
 * the response to the form was lost.
 */
function isRepeatedRequest(
  order: Order,
  history: readonly HistoryEntry[],
  { by, version, status }: { by: string; version: number; status: OrderStatus },
): boolean {
  const next = history.find((entry) => entry.version === version + 1)
  return (
    order.status === status &&
    next?.by === by &&
    findStatusChange(history, version + 1)?.to === status
  )
}

/** The status change immediately after a version, if it reverses the previous status change. */
function findReversal(history: readonly HistoryEntry[], version: number): FieldChange | undefined {
  const next = findStatusChange(history, version + 1)
  const previous = history
    .filter((entry) => entry.version <= version)
    .flatMap(({ changes }) => changes)
    .find(({ field }) => field === 'status')
  return next?.to === (previous?.from ?? 'pending') ? next : undefined
}

const READ = { config: { permission: 'orders:read' } } as const
const WRITE = { config: { permission: 'orders:write' } } as const

const getChangeContext = (request: FastifyRequest, version: number): ChangeContext => ({
  by: request.actor,
  ifVersions: [version],
})

const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, orderPage } = app
  const { render, renderNotFound, confirm, buildConflictNotice } = orderPage

  app.get<OrderRoute>('/admin/orders/:id', READ, async (request, reply) => {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    const { group } = request.query
    return render(request, reply, order, isEditGroup(group) ? { editedGroup: group } : {})
  })

  app.get<OrderRoute>('/admin/orders/:id/edit', WRITE, async (request, reply) => {
    const order = await store.get(request.params.id)
    const { group } = request.query
    if (order === null || !isEditGroup(group)) return renderNotFound(reply)
    request.requirePermission(getGroupPermission(order, group))
    const form = createEditForm(order, group)
    return render(request, reply, order, { form, isGroupOnly: true })
  })

  app.post<OrderRoute>('/admin/orders/:id/edit', WRITE, async (request, reply) => {
    const order = await store.get(request.params.id)
    const { group } = request.query
    if (order === null || !isEditGroup(group)) return renderNotFound(reply)
    request.requirePermission(getGroupPermission(order, group))
    const { form, changes } = parseEditForm(group, request.body ?? {})
    if (changes === null) {
      return render(request, reply.code(422), order, { form, isGroupOnly: true })
    }
    const edits = omitUnchanged(order, changes)
    const result = await saveEdit(store, order.id, edits, form, request.actor)
    switch (result.outcome) {
      case 'changed':
        return confirm(request, reply, result.order, 'saved')
      case 'unchanged':
        return confirm(request, reply, result.order, 'unchanged')
      case 'version_conflict':
        return render(request, reply.code(412), result.order, { form, hasConflict: true })
      default:
        return renderNotFound(reply)
    }
  })

  app.post<OrderRoute>('/admin/orders/:id/status', WRITE, async (request, reply) => {
    const { id } = request.params
    const body = request.body ?? {}
    const status = toLiveStatus(body.status)
    const order = await store.get(id)
    if (order === null) return renderNotFound(reply)
    if (status === undefined) {
      const notice = { title: 'Unknown status', text: 'Nothing was changed.', entries: [] }
      return render(request, reply.code(422), order, { notice })
    }
    requireStatusPermission(request, status)
    const version = parseVersion(body)
    const context = getChangeContext(request, version)
    const result = await store.apply(id, { type: 'edit', changes: { status } }, context)
    switch (result.outcome) {
      case 'changed':
      case 'unchanged':
        return confirm(request, reply, result.order, 'moved')
      case 'invalid_transition': {
        const notice = explainInvalidTransition(result.order, status)
        return render(request, reply.code(409), result.order, { notice })
      }
      case 'version_conflict': {
        const expected = { by: context.by, version, status }
        if (isRepeatedRequest(result.order, (await store.getHistory(id)) ?? [], expected)) {
          return confirm(request, reply, result.order, 'moved')
        }
        const notice = await buildConflictNotice(request, result.order, version)
        return render(request, reply.code(412), result.order, { notice })
      }
      case 'not_found':
        return renderNotFound(reply)
    }
  })

  app.get<OrderRoute>('/admin/orders/:id/cancel', WRITE, async (request, reply) => {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    if (order.status === 'cancelled') {
      return orderPage.renderInstead(request, reply, order)
    }
    return reply.renderView(
      { page: 'orders/cancel', fragment: 'orders/_cancel-dialog' },
      { order: await orderPage.buildDialogView(request, order) },
    )
  })

  app.post<OrderRoute>('/admin/orders/:id/cancel', WRITE, async (request, reply) => {
    const { id } = request.params
    const version = parseVersion(request.body ?? {})
    const context = getChangeContext(request, version)
    const result = await store.apply(id, { type: 'cancel' }, context)
    if (result.outcome === 'not_found') return renderNotFound(reply)
    const { order } = result
    const expected = { by: context.by, version, status: 'cancelled' } as const
    if (
      result.outcome === 'version_conflict' &&
      !isRepeatedRequest(order, (await store.getHistory(id)) ?? [], expected)
    ) {
      const notice = await buildConflictNotice(request, order, version)
      return render(request, reply.code(412), order, { notice })
    }
    return confirm(request, reply, order, 'cancelled')
  })

  app.post<OrderRoute>('/admin/orders/:id/recalculate', WRITE, async (request, reply) => {
    const { id } = request.params
    const current = await store.get(id)
    if (current === null) return renderNotFound(reply)
    request.requirePermission(getEditPermission(current, RECALCULATED_FIELDS))
    const version = parseVersion(request.body ?? {})
    const result = await store.apply(
      id,
      { type: 'recalculate' },
      getChangeContext(request, version),
    )
    if (result.outcome === 'not_found') return renderNotFound(reply)
    const { outcome, order } = result
    if (outcome === 'version_conflict') {
      const notice = await buildConflictNotice(request, order, version)
      return render(request, reply.code(412), order, { notice })
    }
    return confirm(request, reply, order, outcome === 'changed' ? 'recalculated' : 'unchanged')
  })

  async function undo(request: OrderRequest, reply: FastifyReply, version: number) {
    const { id } = request.params
    const current = await store.get(id)
    if (current !== null) {
      request.requirePermission(getUndoPermission(current.status))
      const currentHistory = (await store.getHistory(id)) ?? []
      const problem = await orderPage.findUndoProblem(current, currentHistory)
      if (problem !== null) {
        const text = `${problem}. Nothing was changed.`
        const notice = { title: 'This change cannot be undone', text, entries: [] }
        return render(request, reply.code(409), current, { notice })
      }
    }
    const result = await store.apply(id, { type: 'undo' }, getChangeContext(request, version))
    if (result.outcome === 'not_found') return renderNotFound(reply)
    const { outcome, order } = result
    const history = (await store.getHistory(id)) ?? []
    const confirmUndo = (change: { from: unknown } | undefined) =>
      confirm(request, reply, order, change?.from === 'cancelled' ? 'restored' : 'undone')
    if (outcome === 'unchanged') return confirm(request, reply, order, 'unchanged')
    if (outcome === 'changed') return confirmUndo(findStatusChange(history, order.version))
    const reversal = order.version === version + 1 ? findReversal(history, version) : undefined
    if (reversal) return confirmUndo(reversal)
    // A cancellation can be undone even after later edits.
    const isStillCancelled = order.status === 'cancelled' && !hasStatusChangeAfter(history, version)
    if (isStillCancelled && version > 0 && version < order.version) {
      return undo(request, reply, order.version)
    }
    const notice = await buildConflictNotice(request, order, version)
    return render(request, reply.code(412), order, { notice })
  }

  app.post<OrderRoute>('/admin/orders/:id/restore', WRITE, async (request, reply) =>
    undo(request, reply, parseVersion(request.body ?? {})),
  )
}

export default pages
