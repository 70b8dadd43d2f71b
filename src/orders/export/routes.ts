import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses } from '../../http/problem.js'
import { CONTENT_TYPES, ExportQuery } from './export-request.js'
import type { StreamOrders } from './stream-orders.js'

const routes: FastifyPluginAsyncTypebox<{ sendOrders: StreamOrders }> = async (
  app,
  { sendOrders },
) => {
  app.get(
    '/api/admin/orders/export',
    {
      schema: {
        tags: ['Orders'],
        summary: 'Export all orders of a list as CSV or Excel',
        description:
          'CSV has a column for each field of an order, under its name. Its texts that a spreadsheet would run as a formula have an apostrophe in front, and one more where they had some: take one away.',
        querystring: ExportQuery,
        response: {
          200: {
            description: 'The file',
            headers: {
              'Content-Disposition': Type.String({ description: 'The name to keep it under' }),
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
