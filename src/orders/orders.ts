import type { FastifyPluginAsync } from 'fastify'
import { Problem } from '../plugins/problem.js'
import { BookUnwritableError } from './book/order-book.js'
import { tellFreshness } from './freshness.js'
import type { OrderStore } from './order-store.js'
import routes from './routes.js'

/** The orders: their API. */
const orders: FastifyPluginAsync<{ book: OrderStore }> = async (app, options) => {
  const { book } = options
  app.readiness.set('orders', async () => book.readiness())
  tellFreshness(app, book)
  app.setErrorHandler((error, request) => {
    if (!(error instanceof BookUnwritableError)) throw error
    request.log.error({ err: error.cause }, 'the order book takes no changes')
    throw new Problem(503, 'The orders take no changes at the moment: nothing was changed.', {
      headers: { 'retry-after': '5' },
    })
  })
  await app.register(routes, options)
}

export default orders
