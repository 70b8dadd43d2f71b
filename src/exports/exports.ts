import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses } from '../core/http/problem.js'
import { addFreshnessHeader } from '../orders/freshness.js'
import { CONTENT_TYPES, ExportQuery } from './export-thread.js'
import { createOrderStream } from './stream-orders.js'

/** The CSV and Excel export of orders. */
const orderExports: FastifyPluginAsyncTypebox = async (app) => {
  addFreshnessHeader(app)
  const sendOrders = createOrderStream(app)

  app.get(
    '/api/admin/orders/export',
    {
      config: { permission: 'orders:export' },
      schema: {
        tags: ['Orders'],
        operationId: 'exportOrders',
        summary: 'Export orders as CSV or Excel',
        description:
          'Exports all orders that match the filters. CSV files have one column per field, named after the field, and columns for the latest payment of each order. Text that a spreadsheet would run as a formula is prefixed with an apostrophe; remove the first apostrophe to restore the original text.',
        querystring: ExportQuery,
        response: {
          200: {
            description: 'The file',
            headers: {
              'Content-Disposition': Type.String({ description: 'File name' }),
            },
            content: {
              'text/csv': { schema: { type: 'string' } },
              [CONTENT_TYPES.xlsx]: { schema: { type: 'string', format: 'binary' } },
            },
          },
          ...problemResponses,
        },
      },
    },
    async (request, reply) => sendOrders(request, reply, request.query),
  )

  // Browser downloads: the same file, but errors are HTML pages.
  app.portalPages.push(async (scope) => {
    scope
      .withTypeProvider<TypeBoxTypeProvider>()
      .get(
        '/admin/orders/export',
        { config: { permission: 'orders:export' }, schema: { querystring: ExportQuery } },
        async (request, reply) => sendOrders(request, reply, request.query),
      )
  })
}

export default orderExports
