import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { OrderBook } from '../orders/book/order-book.js'
import adminPages from '../plugins/admin-pages.js'
import { noteError } from '../plugins/note-error.js'
import { Problem, unexpected } from '../plugins/problem.js'
import { readerLocale } from '../plugins/reader-locale.js'
import type { Range } from './dashboard-stats.js'
import { dashboardView } from './dashboard-view.js'
import { rangeChoices, rangeUrl, readRange } from './ranges.js'

interface Query {
  range?: unknown
}

const pages: FastifyPluginAsync<{ book: OrderBook }> = async (app, { book }) => {
  await app.register(adminPages)

  /** What stands below the head: the figures, or why there are none. */
  function contentOf(request: FastifyRequest, range: Range) {
    try {
      const locale = readerLocale(request.headers['accept-language'])
      const dashboard = dashboardView(book, range, {
        locale,
        mainCurrency: app.config.CURRENCY,
        now: Date.now(),
      })
      return { statusCode: 200, part: dashboard === null ? '_empty' : '_figures', dashboard }
    } catch (error) {
      noteError(error, request)
      const { statusCode, message, members } = error instanceof Problem ? error : unexpected()
      return {
        statusCode,
        progress: members.progress,
        part: '_failure',
        message,
        retry: rangeUrl(range),
        requestId: request.id,
      }
    }
  }

  app.get<{ Querystring: Query }>('/admin', async (request, reply) => {
    const range = readRange(request.query.range)
    const ranges = rangeChoices(range)
    if (request.wantsFragment) {
      const content = contentOf(request, range)
      return reply
        .code(content.statusCode)
        .hypermedia({ page: 'dashboard/_answer' }, { ranges, ...content })
    }
    const { administrator } = request
    const nonce = reply.styleNonce()
    return reply.loadingPage('dashboard/dashboard', { administrator, ranges, nonce }, async () =>
      app.view('dashboard/_content', contentOf(request, range)),
    )
  })
}

export default pages
