import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import adminPages from '../../plugins/admin-pages.js'
import { ExportQuery } from './export-request.js'
import type { StreamOrders } from './stream-orders.js'

const pages: FastifyPluginAsyncTypebox<{ sendOrders: StreamOrders }> = async (
  app,
  { sendOrders },
) => {
  await app.register(adminPages)

  // Where the browser itself takes the file, a page tells what went wrong.
  app.get(
    '/admin/orders/export',
    { schema: { querystring: ExportQuery } },
    async (request, reply) => sendOrders(request, reply, request.query),
  )
}

export default pages
