import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { isUnresolved } from '../../orders/attempt.js'
import type { OrderRequest, OrderRoute } from '../../orders/pages/order-presenter.js'
import type { Fulfilment } from './fulfil-orders.js'
import type { FulfilmentSteps } from './fulfilment-steps.js'
import {
  describeCheckFailure,
  describeIncompleteList,
  STATUS_UNCHANGED,
} from './provider-notices.js'
import { isInconclusive, type ResetResult } from './provider-requests.js'

const READ = { config: { permission: 'orders:read' } } as const
const SETTLE = { config: { permission: 'orders:settle' } } as const

interface Options {
  fulfilment: Fulfilment
  steps: FulfilmentSteps
}

/** Pages for attempts whose outcome is unknown: progress, check with the provider, reset. */
const pages: FastifyPluginAsync<Options> = async (app, { fulfilment, steps }) => {
  const { orders: store, orderPage } = app
  const { render, renderNotFound, confirm } = orderPage

  /**
   * Renders the result of a check or a reset that did not change the order.
   *
   * @param statuses HTTP status for each outcome, which depends on the action
   */
  async function renderUnresolved(
    request: OrderRequest,
    reply: FastifyReply,
    result: Exclude<ResetResult, { outcome: 'found' | 'not_found' | 'reset' }>,
    statuses: { notPlaced: number; incompleteList: number },
  ) {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    const editedGroup = 'provider'
    switch (result.outcome) {
      case 'resolved':
        return render(request, reply, order, { editedGroup })
      case 'too_early':
      case 'not_placed':
        return render(request, reply.code(statuses.notPlaced), order, {
          editedGroup,
          providerCheck: 'not_placed',
        })
      case 'incomplete_list':
        return render(request, reply.code(statuses.incompleteList), order, {
          editedGroup,
          providerCheck: 'inconclusive',
          providerNotice: describeIncompleteList(result),
        })
      default:
        return render(request, reply.code(502), order, {
          editedGroup,
          ...(isInconclusive(result) ? { providerCheck: 'inconclusive' } : {}),
          providerNotice: describeCheckFailure(result, STATUS_UNCHANGED),
        })
    }
  }

  // Polled while an attempt is in progress.
  app.get<OrderRoute>('/admin/orders/:id/fulfilment/progress', READ, async (request, reply) => {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    const attempt = await steps.getAttempt(order)
    const isInProgress =
      isUnresolved(order, attempt) &&
      attempt.state === 'sent' &&
      fulfilment.getRemainingMs(attempt) > 0
    return isInProgress ? reply.code(204).send() : render(request, reply, order)
  })

  app.post<OrderRoute>('/admin/orders/:id/fulfilment/check', SETTLE, async (request, reply) => {
    const { id } = request.params
    const result = await fulfilment.check(id, request.actor)
    if (result.outcome === 'not_found') return renderNotFound(reply)
    if (result.outcome === 'found') return confirm(request, reply, result.order, 'found')
    return renderUnresolved(request, reply, result, { notPlaced: 200, incompleteList: 502 })
  })

  app.get<OrderRoute>('/admin/orders/:id/fulfilment/reset', SETTLE, async (request, reply) => {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    if (!isUnresolved(order, await steps.getAttempt(order))) {
      return orderPage.renderInstead(request, reply, order, { editedGroup: 'provider' })
    }
    const isListed = request.query.unlisted === undefined
    const { views, data } = await steps.buildReset(request, order, isListed)
    return reply.renderView(views, data)
  })

  app.post<OrderRoute>('/admin/orders/:id/fulfilment/reset', SETTLE, async (request, reply) => {
    const { id } = request.params
    const by = request.actor
    const { lostProviderId, searchedReference } = request.body ?? {}
    const result = await fulfilment.reset(id, by, {
      lostProviderId: typeof lostProviderId === 'string' ? lostProviderId : null,
      searchedReference: typeof searchedReference === 'string' ? searchedReference : null,
    })
    request.log.info({ order: id, by, outcome: result.outcome }, 'offset order reset')
    if (result.outcome === 'not_found') return renderNotFound(reply)
    if (result.outcome === 'reset') return confirm(request, reply, result.order, 'reset')
    if (result.outcome === 'found') return confirm(request, reply, result.order, 'found')
    return renderUnresolved(request, reply, result, { notPlaced: 409, incompleteList: 409 })
  })
}

export default pages
