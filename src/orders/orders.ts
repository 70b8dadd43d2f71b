import type { FastifyPluginAsync } from 'fastify'
import { createFulfilment } from '../fulfilment/fulfilment.js'
import { Problem } from '../http/problem.js'
import { StoreUnwritableError, type OrderStore } from '../order-store/order-store.js'
import fulfilmentPages from '../portal/orders/fulfilment-pages.js'
import listPages from '../portal/orders/list-pages.js'
import newOrderPages from '../portal/orders/new-order-pages.js'
import orderPages from '../portal/orders/order-pages.js'
import type { OffsetOrderSource } from '../provider/offset-order-source.js'
import { addFreshnessHeaders } from './freshness-headers.js'
import routes from './routes.js'

interface Options {
  store: OrderStore
  /** `null` if no provider is configured */
  source: OffsetOrderSource | null
}

/** The API and the pages of orders. */
const orders: FastifyPluginAsync<Options> = async (app, { store, source }) => {
  const placing = source && createFulfilment(store, source)
  const options = { store, placing }
  app.readiness.set('orders', async () => store.getReadiness())
  addFreshnessHeaders(app, store, store.calendar.timeZone)
  app.setErrorHandler(async (error, request) => {
    if (!(error instanceof StoreUnwritableError)) throw error
    if (!error.isBusy) request.log.error({ err: error.cause }, 'order store not writable')
    throw new Problem(
      503,
      'Orders cannot be saved at the moment. Nothing was changed. Try again in a few seconds.',
      { headers: { 'retry-after': '5' } },
    )
  })
  await app.register(routes, options)
  await app.register(listPages, options)
  await app.register(newOrderPages, options)
  await app.register(orderPages, options)
  if (placing) await app.register(fulfilmentPages, { store, placing })
}

export default orders
