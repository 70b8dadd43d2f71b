import type { FastifyPluginAsync } from 'fastify'
import type { OrderBook } from '../orders/book/order-book.js'
import routes from './routes.js'

/** The dashboard: its API. */
const dashboard: FastifyPluginAsync<{ book: OrderBook }> = async (app, options) => {
  await app.register(routes, options)
}

export default dashboard
