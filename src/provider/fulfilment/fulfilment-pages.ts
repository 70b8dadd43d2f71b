import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { getRequestFormatters } from '../../core/http/locale.js'
import type { Amount } from '../../orders/amount.js'
import {
  canBeFulfilled,
  findConfirmedAttempt,
  findDifferences,
  findLatestAttempt,
  isUnresolved,
} from '../../orders/attempt.js'
import { parseVersion } from '../../orders/pages/edit-form.js'
import { buildContextUrl, parseListContext } from '../../orders/pages/list-context.js'
import type { OrderRequest, OrderRoute } from '../../orders/pages/order-presenter.js'
import type { Fulfilment } from './fulfil-orders.js'
import { createFulfilmentSteps, type FulfilmentSteps } from './fulfilment-steps.js'
import {
  describeCheckFailure,
  describeIncompleteList,
  describeNotFulfillable,
  describeProviderFailure,
  describeQuoteError,
  STATUS_UNCHANGED,
  type ProviderNotice,
} from './provider-notices.js'
import { buildProviderRecordView } from './provider-record-view.js'
import { isInconclusive, type ResetResult } from './provider-requests.js'

const READ = { config: { permission: 'orders:read' } } as const
const SETTLE = { config: { permission: 'orders:settle' } } as const

interface Options {
  fulfilment: Fulfilment
  steps: FulfilmentSteps
}

/** Pages for attempts whose outcome is unknown: progress, check with the provider, reset. */
const unresolvedPages: FastifyPluginAsync<Options> = async (app, { fulfilment, steps }) => {
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

/** Requires a recent sign-in before the dialog opens, so that confirming it does not fail. */
const PLACE = { config: { permission: 'orders:settle', recentSignIn: true } } as const
const PROVIDER = { config: { permission: 'provider:read' } } as const

const parseInteger = (value: unknown): number | null =>
  typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : null

/** The price in a form; if it is invalid, a price that matches no quote. */
const parsePrice = ({ amountMinor, currency }: Record<string, unknown>): Amount => ({
  amountMinor: parseInteger(amountMinor) ?? -1,
  currency: typeof currency === 'string' ? currency : '',
})

/** Pages that place orders with the provider and compare them with its records. */
const pages: FastifyPluginAsync<{ fulfilment: Fulfilment }> = async (app, { fulfilment }) => {
  const { orders: store, orderPage } = app
  const { render, renderNotFound, confirm } = orderPage
  const steps = createFulfilmentSteps(store, fulfilment)
  await app.register(unresolvedPages, { fulfilment, steps })

  app.get<OrderRoute>('/admin/orders/:id/fulfilment', PLACE, async (request, reply) => {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    if (!canBeFulfilled(order, await steps.getAttempt(order))) {
      return orderPage.renderInstead(request, reply, order, { editedGroup: 'provider' })
    }
    const portfolioId = parseInteger(request.query.portfolio)
    const { views, data } = await (portfolioId === null
      ? steps.buildChoice(request, order)
      : steps.buildConfirmation(request, order, portfolioId))
    return reply.renderView(views, data)
  })

  app.post<OrderRoute>('/admin/orders/:id/fulfilment', PLACE, async (request, reply) => {
    const { id } = request.params
    const body = request.body ?? {}
    const version = parseVersion(body)
    const portfolioId = parseInteger(body.portfolio)
    const order = await store.get(id)
    if (order === null) return renderNotFound(reply)
    if (portfolioId === null) {
      const { views, data } = await steps.buildChoice(request, order)
      return reply.code(422).renderView(views, data)
    }
    const by = request.actor
    const problem = typeof body.problem === 'string' ? body.problem : null
    const quote = { version, problem, portfolioId, price: parsePrice(body), by }
    const result = await fulfilment.fulfil(id, quote)
    request.log.info({ order: id, by, outcome: result.outcome }, 'offset order')
    const current = (await store.get(id)) ?? order
    const renderNotice = (status: number, providerNotice: ProviderNotice) =>
      render(request, reply.code(status), current, { editedGroup: 'provider', providerNotice })
    switch (result.outcome) {
      case 'placed': {
        const history = (await store.getHistory(result.order.id)) ?? []
        const attempt = findLatestAttempt(history)
        const confirmed = attempt && findConfirmedAttempt(history, attempt.reference)
        const differs =
          attempt !== null && confirmed !== null && findDifferences(confirmed, attempt).length > 0
        return confirm(request, reply, result.order, differs ? 'placed-otherwise' : 'placed')
      }
      case 'price_changed': {
        const { views, data } = await steps.buildConfirmation(request, current, portfolioId)
        return reply.code(409).renderView(views, { ...data, hasPriceChanged: true })
      }
      case 'placement_problem': {
        const { views, data } = await steps.buildConfirmation(request, current, portfolioId)
        return reply.code(409).renderView(views, data)
      }
      case 'refused':
      case 'unreachable':
      case 'invalid_response':
      case 'unexpected_order':
      case 'quote_mismatch':
      case 'portfolio_not_found': {
        const status = result.outcome === 'portfolio_not_found' ? 422 : 502
        return renderNotice(status, describeQuoteError(result, getRequestFormatters(request)))
      }
      case 'unknown':
        return render(request, reply.code(504), current, { editedGroup: 'provider' })
      case 'placed_not_recorded':
        return renderNotice(503, {
          title: `The provider placed the order, as ${result.id}`,
          text: 'Its ID could not be saved. To save it, check with the provider in a few minutes.',
        })
      case 'not_fulfillable': {
        const attempt = await steps.getAttempt(result.order)
        return renderNotice(409, describeNotFulfillable(result.order, attempt))
      }
      case 'version_conflict':
        return orderPage.renderConflict(request, reply, result.order, version, {
          editedGroup: 'provider',
        })
      case 'not_found':
        return renderNotFound(reply)
    }
  })

  app.get<OrderRoute>('/admin/orders/:id/provider-record', PROVIDER, async (request, reply) => {
    const order = await store.get(request.params.id)
    if (!order?.orderSourceId) return renderNotFound(reply)
    const [response, portfolios] = await Promise.all([
      fulfilment.getProviderOrder(order.orderSourceId),
      fulfilment.listPortfolios(),
    ])
    const isRead = 'value' in response
    const record =
      isRead && response.value !== null
        ? buildProviderRecordView(
            order,
            (await store.getHistory(order.id)) ?? [],
            response.value,
            'value' in portfolios ? portfolios.value : [],
            getRequestFormatters(request),
          )
        : null
    const context = parseListContext(request.query)
    return reply.code(isRead ? 200 : 502).renderView(
      { page: 'provider/provider-record', fragment: 'provider/_provider-record' },
      {
        subject: {
          ...(await steps.buildSubject(request, order)),
          orderSourceId: order.orderSourceId,
        },
        record,
        failure: isRead ? null : describeProviderFailure(response, 'Its record cannot be shown.'),
        retryUrl: buildContextUrl(context, `/admin/orders/${order.id}/provider-record`),
      },
    )
  })
}

export default pages
