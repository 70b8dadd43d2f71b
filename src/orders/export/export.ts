import type { FastifyPluginAsync } from 'fastify'
import { tellFreshness } from '../freshness.js'
import type { OrderStore } from '../order-store.js'
import pages from './pages.js'
import routes from './routes.js'
import { ordersSender } from './send-orders.js'

interface Options {
  book: Pick<OrderStore, 'path' | 'check' | 'explainer' | 'freshness'>
  timeZone: string
}

/** Files of orders: by the API, and for browsers. */
const orderExport: FastifyPluginAsync<Options> = async (app, options) => {
  tellFreshness(app, options.book, options.timeZone)
  const sendOrders = ordersSender(app, options)
  await app.register(routes, { sendOrders })
  await app.register(pages, { sendOrders })
}

export default orderExport
