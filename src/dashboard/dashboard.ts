import type { FastifyPluginAsync } from 'fastify'
import type { OrderBook } from '../orders/book/order-book.js'
import pages from './pages.js'
import routes from './routes.js'

/** The dashboard: its API and its page. */
const dashboard: FastifyPluginAsync<{ book: OrderBook }> = async (app, options) => {
  await app.register(routes, options)
  await app.register(pages, options)
}

export default dashboard
