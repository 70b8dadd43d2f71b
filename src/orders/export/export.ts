import type { FastifyPluginAsync } from 'fastify'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { OrderStore } from '../../order-store/order-store.js'
import adminPages from '../../plugins/admin-pages.js'
import { addFreshnessHeader } from '../freshness-header.js'
import { ExportQuery } from './export-request.js'
import routes from './routes.js'
import { createOrderStream, type StreamOptions, type StreamOrders } from './stream-orders.js'

interface Options extends StreamOptions {
  store: Pick<OrderStore, 'source' | 'check' | 'createErrorTranslator' | 'getFreshness'>
}

/** Browser downloads: the same file as the API, but errors are HTML pages. */
const pages: FastifyPluginAsyncTypebox<{ sendOrders: StreamOrders }> = async (
  app,
  { sendOrders },
) => {
  await app.register(adminPages)
  app.get(
    '/admin/orders/export',
    { config: { permission: 'orders:export' }, schema: { querystring: ExportQuery } },
    async (request, reply) => sendOrders(request, reply, request.query),
  )
}

/** The CSV and Excel export of orders. */
const orderExport: FastifyPluginAsync<Options> = async (app, options) => {
  addFreshnessHeader(app, options.store)
  const sendOrders = createOrderStream(app, options)
  await app.register(routes, { sendOrders })
  await app.register(pages, { sendOrders })
}

export default orderExport
