import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { OrderDatabase } from '../../order-store/sqlite/sqlite-order-store.js'
import adminPages from '../../plugins/admin-pages.js'
import { logError } from '../../http/log-error.js'
import { Problem, createUnexpectedProblem } from '../../http/problem.js'
import { getLocale } from '../../http/locale.js'
import type { Range } from '../../orders/dashboard-stats.js'
import { buildDashboardView } from './dashboard-view.js'
import { buildRangeChoices, buildRangeUrl, parseRange } from './ranges.js'

interface Query {
  range?: unknown
}

const pages: FastifyPluginAsync<{ book: OrderDatabase }> = async (app, { book }) => {
  await app.register(adminPages)

  /** What stands below the head: the figures, or why there are none. */
  function contentOf(request: FastifyRequest, range: Range) {
    try {
      const locale = getLocale(request.headers['accept-language'])
      const dashboard = buildDashboardView(book, range, {
        locale,
        mainCurrency: app.config.CURRENCY,
        now: Date.now(),
      })
      return { statusCode: 200, part: dashboard === null ? '_empty' : '_figures', dashboard }
    } catch (error) {
      logError(error, request)
      const { statusCode, message, members } =
        error instanceof Problem ? error : createUnexpectedProblem()
      return {
        statusCode,
        progress: members.progress,
        part: '_failure',
        message,
        retry: buildRangeUrl(range),
        requestId: request.id,
      }
    }
  }

  app.get<{ Querystring: Query }>('/admin', async (request, reply) => {
    const range = parseRange(request.query.range)
    const ranges = buildRangeChoices(range)
    if (request.wantsFragment) {
      const content = contentOf(request, range)
      return reply
        .code(content.statusCode)
        .renderView({ page: 'portal/dashboard/_response' }, { ranges, ...content })
    }
    const { administrator } = request
    const nonce = reply.createStyleNonce()
    return reply.streamPage(
      'portal/dashboard/dashboard',
      { administrator, ranges, nonce },
      async () => app.view('portal/dashboard/_content', contentOf(request, range)),
    )
  })
}

export default pages
