import type { FastifyPluginAsync } from 'fastify'
import pages from './pages.js'
import routes from './routes.js'
import { ordersSender } from './send-orders.js'

interface Options {
  /** The order book's file */
  path: string
  timeZone: string
}

/** Files of orders: by the API, and for browsers. */
const orderExport: FastifyPluginAsync<Options> = async (app, options) => {
  const sendOrders = ordersSender(app, options)
  await app.register(routes, { sendOrders })
  await app.register(pages, { sendOrders })
}

export default orderExport
