import type { FastifyPluginAsync } from 'fastify'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { addFreshnessHeader } from '../orders/freshness-header.js'
import { ExportQuery } from './export-request.js'
import { createExportRecorder } from './record-export.js'
import routes from './routes.js'
import { createOrderStream, type StreamOrders } from './stream-orders.js'

/** Browser downloads: the same file as the API, but errors are HTML pages. */
const pages: FastifyPluginAsyncTypebox<{ sendOrders: StreamOrders }> = async (
  app,
  { sendOrders },
) => {
  app.get(
    '/admin/orders/export',
    { config: { permission: 'orders:export' }, schema: { querystring: ExportQuery } },
    async (request, reply) => sendOrders(request, reply, request.query),
  )
}

/** The CSV and Excel export of orders. */
const orderExport: FastifyPluginAsync = async (app) => {
  const { orders: store, orderFilters, config } = app
  addFreshnessHeader(app, store)
  const sendOrders = createOrderStream(app, {
    store,
    timeZone: config.TIME_ZONE,
    resolveFilters: orderFilters.resolve,
    recordExport: createExportRecorder(app.auditLog, store),
  })
  await app.register(routes, { sendOrders })
  app.portalPages.push(async (scope) => {
    await scope.register(pages, { sendOrders })
  })
}

export default orderExport
