import type { FastifyPluginAsync } from 'fastify'
import { tellFreshness } from '../orders/freshness.js'
import type { OrderStore } from '../orders/order-store.js'
import pages from './pages.js'
import routes from './routes.js'

/** The dashboard: its API and its page. */
const dashboard: FastifyPluginAsync<{ book: OrderStore }> = async (app, options) => {
  tellFreshness(app, options.book, options.book.calendar.timeZone)
  await app.register(routes, options)
  await app.register(pages, options)
}

export default dashboard
