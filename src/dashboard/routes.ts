import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { OrderBook } from '../orders/book/order-book.js'
import { problemResponses } from '../plugins/problem.js'
import { oneOf } from '../validation/one-of.js'
import { DashboardStats, dashboardStats, RANGES, type Range } from './dashboard-stats.js'

const StatsRequest = Type.Object(
  { range: oneOf<Range>(RANGES, { description: 'How many days, today included' }) },
  { title: 'Statistics request', additionalProperties: false, examples: [{ range: '30d' }] },
)

const routes: FastifyPluginAsyncTypebox<{ book: OrderBook }> = async (app, { book }) => {
  app.post(
    '/api/admin/stats',
    {
      bodyLimit: 1024,
      schema: {
        tags: ['Orders'],
        summary: 'Statistics of orders',
        body: StatsRequest,
        response: { 200: DashboardStats, ...problemResponses },
      },
    },
    async ({ body }) => dashboardStats(book, body.range, Date.now()),
  )
}

export default routes
