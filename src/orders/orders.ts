import type { FastifyPluginAsync } from 'fastify'
import { Problem } from '../http/problem.js'
import type { OffsetOrderSource } from '../provider/client.js'
import { StoreUnwritableError } from '../order-store/sqlite/sqlite-order-store.js'
import { addFreshnessHeaders } from './freshness-headers.js'
import type { OrderStore } from '../order-store/order-store.js'
import newOrderPages from '../portal/orders/new-order-pages.js'
import orderPages from '../portal/orders/order-pages.js'
import listPages from '../portal/orders/list-pages.js'
import placementPages from '../portal/orders/fulfilment-pages.js'
import { createFulfilment } from '../fulfilment/fulfilment.js'
import routes from './routes.js'

interface Options {
  book: OrderStore
  /** Where orders are placed; `null` where no order source is configured */
  source: OffsetOrderSource | null
}

/** The orders: their API and their pages. */
const orders: FastifyPluginAsync<Options> = async (app, { book, source }) => {
  const options = { book, placing: source && createFulfilment(book, source) }
  app.readiness.set('orders', async () => book.readiness())
  addFreshnessHeaders(app, book, book.calendar.timeZone)
  app.setErrorHandler(async (error, request) => {
    if (!(error instanceof StoreUnwritableError)) throw error
    if (!error.isBusy) request.log.error({ err: error.cause }, 'the order book takes no changes')
    throw new Problem(503, 'The orders take no changes at the moment: nothing was changed.', {
      headers: { 'retry-after': '5' },
    })
  })
  await app.register(routes, options)
  await app.register(listPages, options)
  await app.register(newOrderPages, options)
  await app.register(orderPages, options)
  if (options.placing) await app.register(placementPages, { book, placing: options.placing })
}

export default orders
