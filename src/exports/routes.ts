import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses } from '../core/http/problem.js'
import { CONTENT_TYPES, ExportQuery } from './export-request.js'
import type { StreamOrders } from './stream-orders.js'

const routes: FastifyPluginAsyncTypebox<{ sendOrders: StreamOrders }> = async (
  app,
  { sendOrders },
) => {
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
}

export default routes
