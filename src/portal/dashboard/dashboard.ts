import type { FastifyPluginAsync } from 'fastify'
import { addFreshnessHeaders } from '../../orders/freshness-headers.js'
import type { OrderStore } from '../../order-store/order-store.js'
import pages from './pages.js'
import routes from '../../orders/stats-routes.js'

/** The dashboard: its API and its page. */
const dashboard: FastifyPluginAsync<{ store: OrderStore }> = async (app, options) => {
  addFreshnessHeaders(app, options.store, options.store.calendar.timeZone)
  await app.register(routes, options)
  await app.register(pages, options)
}

export default dashboard
