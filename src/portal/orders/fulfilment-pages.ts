import type { FastifyPluginAsync } from 'fastify'
import type { Amount } from '../../provider/offset-order.js'
import { calculatePrice } from '../../provider/price.js'
import adminPages from '../../plugins/admin-pages.js'
import type { OrderStore } from '../../order-store/order-store.js'
import type { Order } from '../../orders/order.js'
import { isProportionate } from '../../fulfilment/verify-response.js'
import { getPurchase, isOpen, canBePlaced, findLatestAttempt } from '../../fulfilment/attempt.js'
import { isInconclusive, getTons, type Fulfilment } from '../../fulfilment/fulfilment.js'
import { parseVersion } from './edit-form.js'
import { buildContextUrl, parseListContext } from './list-context.js'
import { createOrderPresenter, type OrderRequest, type OrderRoute } from './order-presenter.js'
import {
  describeNoResponse,
  describeListError,
  describeQuoteError,
  STATUS_UNKNOWN,
  NOTHING_ORDERED,
  describeIncompleteList,
  describeRejection,
} from './fulfilment-notices.js'
import {
  buildPortfolioView,
  buildProviderRecordView,
  buildWarnings,
  type ProviderNotice,
} from './fulfilment-view.js'

const wholeNumberIn = (value: unknown): number | null =>
  typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : null

/** The price that a form says was shown; one that no order source asks where it says none. */
const priceIn = ({ amountMinor, currency }: Record<string, unknown>): Amount => ({
  amountMinor: wholeNumberIn(amountMinor) ?? -1,
  currency: typeof currency === 'string' ? currency : '',
})

/** Placing an order at the order source, and what the order source has of it. */
const placementPages: FastifyPluginAsync<{ store: OrderStore; placing: Fulfilment }> = async (
  app,
  { store, placing },
) => {
  await app.register(adminPages)
  const { figuresOf, missing, show, done, overtaken, sharersOf } = createOrderPresenter(
    store,
    placing,
  )
  const placementOf = (order: Order) => findLatestAttempt(store.getHistory(order.id) ?? [])

  /** What the steps of placing an order say of it. */
  function subjectOf(request: OrderRequest, order: Order) {
    const figures = figuresOf(request)
    const place = parseListContext(request.query)
    const path = `/admin/orders/${order.id}`
    const placement = placementOf(order)
    return {
      orderNumber: order.orderNumber,
      customerName: order.customerName,
      vesselName: order.vesselName,
      version: order.version,
      tons: figures.exact(getTons(order)),
      amount: figures.money(order.amountMinor, order.currency),
      isPaid: order.status !== 'pending',
      reference: placement?.reference ?? null,
      bought: getPurchase(order, placement),
      url: buildContextUrl(place, path, { group: 'provider' }),
      action: buildContextUrl(place, `${path}/placement`, { group: 'provider' }),
      release: buildContextUrl(place, `${path}/placement/release`, { group: 'provider' }),
      /** What a form that is sent by GET keeps of where one is */
      kept: [...new URLSearchParams(buildContextUrl(place, '', { group: 'provider' }))],
    }
  }

  /** Answers with a step of placing: in a dialog where htmx asked, else on a page of its own. */
  const step = (request: OrderRequest, order: Order, view: string, more: object = {}) => ({
    views: { page: 'portal/orders/fulfilment', fragment: 'portal/orders/_fulfilment-parts' },
    data: {
      administrator: request.administrator,
      subject: subjectOf(request, order),
      step: view,
      ...more,
    },
  })

  async function confirmation(request: OrderRequest, order: Order, portfolioId: number) {
    const quote = await placing.price(order, portfolioId)
    const figures = figuresOf(request)
    if (quote.outcome !== 'quoted') {
      if (quote.outcome === 'bought unasked') {
        const { id: boughtAs } = quote
        request.log.error(
          { order: order.id, boughtAs },
          'the order source has answered a dry run with an id',
        )
      }
      return step(request, order, 'failed', { failure: describeQuoteError(quote, figures) })
    }
    const { portfolio, price } = quote
    const { pricePerTon } = portfolio
    const tons = getTons(order)
    const usual = pricePerTon && calculatePrice(tons, pricePerTon)
    const isOdd = pricePerTon !== null && !isProportionate({ ...price, tons }, pricePerTon)
    return step(request, order, 'confirm', {
      portfolio: buildPortfolioView(portfolio, price, figures),
      price: { ...price, text: figures.money(price.amountMinor, price.currency) },
      usualPrice: usual && isOdd ? figures.money(usual.amountMinor, usual.currency) : null,
    })
  }

  async function choice(request: OrderRequest, order: Order) {
    const offered = await placing.portfolios()
    if (!('value' in offered)) {
      return step(request, order, 'failed', {
        failure: describeNoResponse(NOTHING_ORDERED, offered),
      })
    }
    const figures = figuresOf(request)
    const last = placementOf(order)?.portfolioId
    const chosen = offered.value.find(({ id }) => id === last) ?? offered.value[0]
    const tons = getTons(order)
    return step(request, order, 'choose', {
      portfolios: offered.value.map((portfolio) => ({
        ...buildPortfolioView(
          portfolio,
          portfolio.pricePerTon && calculatePrice(tons, portfolio.pricePerTon),
          figures,
        ),
        isChosen: portfolio === chosen,
      })),
    })
  }

  app.get<OrderRoute>('/admin/orders/:id/placement', async (request, reply) => {
    const order = store.get(request.params.id)
    if (order === null) return missing(reply)
    if (!canBePlaced(order, placementOf(order))) {
      return request.wantsFragment
        ? show(request, reply, order, { edited: 'provider' })
        : reply.redirect(
            buildContextUrl(parseListContext(request.query), `/admin/orders/${order.id}`),
            303,
          )
    }
    const portfolioId = wholeNumberIn(request.query.portfolio)
    const { views, data } = await (portfolioId === null
      ? choice(request, order)
      : confirmation(request, order, portfolioId))
    return reply.renderView(views, data)
  })

  app.post<OrderRoute>('/admin/orders/:id/placement', async (request, reply) => {
    const { id } = request.params
    const body = request.body ?? {}
    const version = parseVersion(body)
    const portfolioId = wholeNumberIn(body.portfolio)
    const order = store.get(id)
    if (order === null) return missing(reply)
    if (portfolioId === null) {
      const { views, data } = await choice(request, order)
      return reply.code(422).renderView(views, data)
    }
    const by = request.administrator.email
    const confirmed = { version, portfolioId, price: priceIn(body), by }
    const placed = await placing.place(id, confirmed)
    request.log.info({ order: id, by, outcome: placed.outcome }, 'offset order')
    const now = store.get(id) ?? order
    const tell = (status: number, sourceNotice: ProviderNotice) =>
      show(request, reply.code(status), now, { edited: 'provider', sourceNotice })
    switch (placed.outcome) {
      case 'placed': {
        const history = store.getHistory(placed.order.id) ?? []
        const isAsConfirmed =
          buildWarnings(placed.order, history, figuresOf(request)).length === 0 &&
          sharersOf(placed.order).length === 0
        return done(request, reply, placed.order, isAsConfirmed ? 'placed' : 'placed-otherwise')
      }
      case 'price changed': {
        const { views, data } = await confirmation(request, now, portfolioId)
        return reply.code(409).renderView(views, { ...data, priceHasChanged: true })
      }
      case 'refused':
      case 'unreachable':
      case 'invalid_response':
      case 'bought unasked':
      case 'not as asked':
        return tell(502, describeQuoteError(placed, figuresOf(request)))
      case 'no such portfolio':
        return tell(422, describeQuoteError(placed, figuresOf(request)))
      case 'unknown':
        return show(request, reply.code(504), now, { edited: 'provider' })
      case 'placed, not noted':
        return tell(503, {
          title: `The order source has taken it, as ${placed.id}`,
          text: 'But that could not be written down here. Look at the order source in a while, and it will be.',
        })
      case 'not to be placed':
        return tell(409, describeRejection(placed.order, placementOf(placed.order)))
      case 'version_conflict': {
        const notice = overtaken(request, placed.order, version)
        return show(request, reply.code(412), placed.order, { notice, edited: 'provider' })
      }
      case 'not_found':
        return missing(reply)
    }
  })

  // Asked again and again while an attempt is under way: nothing new, nothing to show.
  app.get<OrderRoute>('/admin/orders/:id/placement/progress', async (request, reply) => {
    const order = store.get(request.params.id)
    if (order === null) return missing(reply)
    const placement = placementOf(order)
    const isUnderWay =
      isOpen(order, placement) && placement.state === 'sent' && placing.mayLastMs(placement) > 0
    return isUnderWay ? reply.code(204).send() : show(request, reply, order)
  })

  app.post<OrderRoute>('/admin/orders/:id/placement/look', async (request, reply) => {
    const { id } = request.params
    const looked = await placing.look(id, request.administrator.email)
    if (looked.outcome === 'not_found') return missing(reply)
    if (looked.outcome === 'found') return done(request, reply, looked.order, 'found')
    const order = store.get(id)
    if (order === null) return missing(reply)
    switch (looked.outcome) {
      case 'not there':
        return show(request, reply, order, { edited: 'provider', wasNotThere: true })
      case 'not listed':
        return show(request, reply.code(502), order, {
          edited: 'provider',
          wasNotListed: true,
          sourceNotice: describeIncompleteList(looked),
        })
      case 'settled':
        return show(request, reply, order, { edited: 'provider' })
      default: {
        return show(request, reply.code(502), order, {
          edited: 'provider',
          wasNotListed: isInconclusive(looked),
          sourceNotice: describeListError(STATUS_UNKNOWN, looked),
        })
      }
    }
  })

  app.get<OrderRoute>('/admin/orders/:id/placement/release', async (request, reply) => {
    const order = store.get(request.params.id)
    if (order === null) return missing(reply)
    if (!isOpen(order, placementOf(order))) {
      return request.wantsFragment
        ? show(request, reply, order, { edited: 'provider' })
        : reply.redirect(
            buildContextUrl(parseListContext(request.query), `/admin/orders/${order.id}`),
            303,
          )
    }
    const isListed = request.query.unlisted === undefined
    const { views, data } = step(request, order, 'release', { isListed })
    return reply.renderView(views, data)
  })

  app.post<OrderRoute>('/admin/orders/:id/placement/release', async (request, reply) => {
    const { id } = request.params
    const by = request.administrator.email
    const { bought, lookedFor } = request.body ?? {}
    const released = await placing.release(id, by, {
      bought: typeof bought === 'string' ? bought : null,
      lookedFor: typeof lookedFor === 'string' ? lookedFor : null,
    })
    request.log.info({ order: id, by, outcome: released.outcome }, 'offset order released')
    if (released.outcome === 'not_found') return missing(reply)
    if (released.outcome === 'released') return done(request, reply, released.order, 'released')
    if (released.outcome === 'found') return done(request, reply, released.order, 'found')
    const order = store.get(id)
    if (order === null) return missing(reply)
    switch (released.outcome) {
      case 'too early':
      case 'not there':
        return show(request, reply.code(409), order, { edited: 'provider', wasNotThere: true })
      case 'not listed':
        return show(request, reply.code(409), order, {
          edited: 'provider',
          wasNotListed: true,
          sourceNotice: describeIncompleteList(released),
        })
      case 'settled':
        return show(request, reply, order, { edited: 'provider' })
      default: {
        return show(request, reply.code(502), order, {
          edited: 'provider',
          wasNotListed: isInconclusive(released),
          sourceNotice: describeListError('it stays as it is', released),
        })
      }
    }
  })

  app.get<OrderRoute>('/admin/orders/:id/source-record', async (request, reply) => {
    const order = store.get(request.params.id)
    if (!order?.orderSourceId) return missing(reply)
    const [read, portfolios] = await Promise.all([
      placing.recordOf(order.orderSourceId),
      placing.portfolios(),
    ])
    const place = parseListContext(request.query)
    const offered = 'value' in portfolios ? portfolios.value : []
    const isThere = 'value' in read
    const record =
      isThere && read.value !== null
        ? buildProviderRecordView(
            order,
            store.getHistory(order.id) ?? [],
            read.value,
            offered,
            figuresOf(request),
          )
        : null
    return reply.code(isThere ? 200 : 502).renderView(
      { page: 'portal/orders/provider-record', fragment: 'portal/orders/_provider-record' },
      {
        administrator: request.administrator,
        subject: { ...subjectOf(request, order), orderSourceId: order.orderSourceId },
        record,
        failure: isThere ? null : describeNoResponse('its record cannot be shown', read),
        retry: buildContextUrl(place, `/admin/orders/${order.id}/source-record`),
      },
    )
  })
}

export default placementPages
