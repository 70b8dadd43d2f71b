import type { FastifyPluginAsync } from 'fastify'
import pages from './pages.js'
import routes from './routes.js'
import { ordersSender, type SenderOptions } from './send-orders.js'

/** Files of orders: by the API, and for browsers. */
const orderExport: FastifyPluginAsync<SenderOptions> = async (app, options) => {
  const sendOrders = ordersSender(app, options)
  await app.register(routes, { sendOrders })
  await app.register(pages, { sendOrders })
}

export default orderExport
