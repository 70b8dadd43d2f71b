import type { FastifyPluginAsync } from 'fastify'
import { addFreshnessHeaders } from '../freshness-headers.js'
import type { OrderStore } from '../../order-store/order-store.js'
import pages from './download-pages.js'
import routes from './routes.js'
import { createOrderStream } from './stream-orders.js'

interface Options {
  book: Pick<OrderStore, 'path' | 'check' | 'explainer' | 'freshness'>
  timeZone: string
}

/** Files of orders: by the API, and for browsers. */
const orderExport: FastifyPluginAsync<Options> = async (app, options) => {
  addFreshnessHeaders(app, options.book, options.timeZone)
  const sendOrders = createOrderStream(app, options)
  await app.register(routes, { sendOrders })
  await app.register(pages, { sendOrders })
}

export default orderExport
