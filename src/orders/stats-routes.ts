import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses } from '../http/problem.js'
import type { OrderStore } from '../order-store/order-store.js'
import { stringEnum } from '../validation/string-enum.js'
import { calculateDashboardStats, DashboardStats, RANGES, type Range } from './dashboard-stats.js'

const StatsRequest = Type.Object(
  { range: stringEnum<Range>(RANGES, { description: 'Number of days, including today' }) },
  { title: 'Statistics request', additionalProperties: false, examples: [{ range: '30d' }] },
)

const routes: FastifyPluginAsyncTypebox<{ store: OrderStore }> = async (app, { store }) => {
  app.post(
    '/api/admin/stats',
    {
      bodyLimit: 1024,
      schema: {
        tags: ['Orders'],
        summary: 'Get order statistics',
        body: StatsRequest,
        response: { 200: DashboardStats, ...problemResponses },
      },
    },
    async ({ body }) => calculateDashboardStats(store, body.range, Date.now()),
  )
}

export default routes
