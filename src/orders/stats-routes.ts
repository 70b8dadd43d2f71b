import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type Static } from '@sinclair/typebox'
import { parseDay } from '../core/formatting/day-calendar.js'
import { createValidationProblem, problemResponses } from '../core/http/problem.js'
import { stringEnum } from '../core/validation/formats.js'
import {
  calculateDashboardStats,
  DashboardStats,
  RANGES,
  type Range,
  type StatsPeriod,
} from './dashboard-stats.js'

/** A chart of a longer period would not be readable. */
const MAX_DAYS = 100 * 366

const StatsRequest = Type.Object(
  {
    range: stringEnum<Range>(RANGES, {
      description: 'Number of days, including today; or custom, with from and to',
    }),
    from: Type.Optional(Type.String({ format: 'date', description: 'First day' })),
    to: Type.Optional(Type.String({ format: 'date', description: 'Last day (inclusive)' })),
  },
  {
    title: 'Statistics request',
    additionalProperties: false,
    examples: [{ range: '30d' }, { range: 'custom', from: '2026-01-01', to: '2026-03-31' }],
  },
)

/** Checks what the schema cannot express; throws a Problem (422). */
function toPeriod({ range, from, to }: Static<typeof StatsRequest>): StatsPeriod {
  const fail = (path: string, message: string) => createValidationProblem([{ path, message }])
  if (range !== 'custom') {
    if (from !== undefined) throw fail('from', 'is only allowed with the range custom')
    if (to !== undefined) throw fail('to', 'is only allowed with the range custom')
    return { range }
  }
  if (from === undefined) throw fail('from', 'is required')
  if (to === undefined) throw fail('to', 'is required')
  if (to < from) throw fail('to', 'must not be before from')
  if (parseDay(to) - parseDay(from) > MAX_DAYS)
    throw fail('to', `must be at most ${MAX_DAYS} days after from`)
  return { range, from, to }
}

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/api/admin/stats',
    {
      config: { permission: 'stats:read' },
      bodyLimit: 1024,
      schema: {
        tags: ['Orders'],
        operationId: 'getOrderStatistics',
        summary: 'Get order statistics',
        body: StatsRequest,
        response: { 200: DashboardStats, ...problemResponses },
      },
    },
    async ({ body }) => calculateDashboardStats(app.orders, toPeriod(body), Date.now()),
  )
}

export default routes
