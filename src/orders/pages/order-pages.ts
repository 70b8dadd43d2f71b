import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { MessageCode } from '../labels.js'
import type { OrderCommand } from '../order-command.js'
import {
  getEditPermission,
  getUndoPermission,
  RECALCULATED_FIELDS,
  requireStatusPermission,
} from '../order-permissions.js'
import { toLiveStatus, type OrderStatus } from '../order-status.js'
import type { FieldChange, HistoryEntry, Order } from '../order.js'
import type { ChangeContext } from '../store/order-store.js'
import {
  createEditForm,
  getGroupPermission,
  isEditGroup,
  omitUnchanged,
  parseEditForm,
  parseVersion,
  saveEdit,
} from './edit-form.js'
import type { OrderRequest, OrderRoute } from './order-presenter.js'
import { explainInvalidTransition } from './order-view.js'

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
  const { render, renderNotFound, confirm, renderConflict } = orderPage

  /**
   * Applies a command to the version of an order that a form was opened for.
   *
   * @param status that the command leads to; `null` if it does not change the status
   */
  async function change(
    request: OrderRequest,
    reply: FastifyReply,
    command: OrderCommand,
    message: MessageCode,
    status: OrderStatus | null,
  ) {
    const { id } = request.params
    const version = parseVersion(request.body ?? {})
    const result = await store.apply(id, command, getChangeContext(request, version))
    if (result.outcome === 'not_found') return renderNotFound(reply)
    const { outcome, order } = result
    if (outcome === 'invalid_transition' && status !== null) {
      const notice = explainInvalidTransition(order, status)
      return render(request, reply.code(409), order, { notice })
    }
    if (outcome === 'version_conflict') {
      const history = (await store.getHistory(id)) ?? []
      const isRepeated =
        status !== null && isRepeatedRequest(order, history, { by: request.actor, version, status })
      if (!isRepeated) return renderConflict(request, reply, order, version)
    }
    const isUnchanged = outcome === 'unchanged' && status === null
    return confirm(request, reply, order, isUnchanged ? 'unchanged' : message)
  }

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
    const status = toLiveStatus(request.body?.status)
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    if (status === undefined) {
      const notice = { title: 'Unknown status', text: 'Nothing was changed.' }
      return render(request, reply.code(422), order, { notice })
    }
    requireStatusPermission(request, status)
    return change(request, reply, { type: 'edit', changes: { status } }, 'moved', status)
  })

  app.get<OrderRoute>('/admin/orders/:id/cancel', WRITE, async (request, reply) => {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    if (order.status === 'cancelled') return orderPage.renderInstead(request, reply, order)
    return reply.renderView(
      { page: 'orders/cancel', fragment: 'orders/_cancel-dialog' },
      { order: await orderPage.buildDialogView(request, order) },
    )
  })

  app.post<OrderRoute>('/admin/orders/:id/cancel', WRITE, async (request, reply) =>
    change(request, reply, { type: 'cancel' }, 'cancelled', 'cancelled'),
  )

  app.post<OrderRoute>('/admin/orders/:id/recalculate', WRITE, async (request, reply) => {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    request.requirePermission(getEditPermission(order, RECALCULATED_FIELDS))
    return change(request, reply, { type: 'recalculate' }, 'recalculated', null)
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
        const notice = { title: 'This change cannot be undone', text }
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
    return renderConflict(request, reply, order, version)
  }

  app.post<OrderRoute>('/admin/orders/:id/restore', WRITE, async (request, reply) =>
    undo(request, reply, parseVersion(request.body ?? {})),
  )
}

export default pages
