import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { invalidInput, problemResponses } from '../../plugins/problem.js'
import { dayCalendar, isoDate } from '../book/day-calendar.js'
import { tellFreshness } from '../freshness.js'
import { filterFaults } from '../order-filters.js'
import type { OrderStore } from '../order-store.js'
import { CONTENT_TYPES, ExportQuery } from './export-request.js'
import { orderExports } from './order-exports.js'

interface Options {
  book: Pick<OrderStore, 'path' | 'requireReadable' | 'freshness'>
  timeZone: string
}

const routes: FastifyPluginAsyncTypebox<Options> = async (app, { book, timeZone }) => {
  const exports = orderExports({ path: book.path, timeZone })
  const calendar = dayCalendar(timeZone)

  tellFreshness(app, book)

  // A stop waits for what is under way; half its time is left to end what takes longer.
  app.addHook('preClose', async () => {
    setTimeout(() => void exports.end(), app.config.SHUTDOWN_TIMEOUT_MS / 2).unref()
  })

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
            content: {
              'text/csv': { schema: { type: 'string' } },
              [CONTENT_TYPES.xlsx]: { schema: { type: 'string', format: 'binary' } },
            },
          },
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { format, sort, ...filters } = request.query
      const faults = filterFaults(filters)
      if (faults.length > 0) throw invalidInput(faults)
      book.requireReadable()

      const leaving = new AbortController()
      reply.raw.once('close', () => leaving.abort())
      let file = Readable.from([])
      if (request.method !== 'HEAD') {
        try {
          file = await exports.start({ format, sort, filters }, leaving.signal)
        } catch (error) {
          if (leaving.signal.aborted) return reply.hijack() // nobody is left to answer
          throw error
        }
      }
      const today = isoDate(calendar.dayOf(Date.now()))
      return reply
        .type(CONTENT_TYPES[format])
        .header('content-disposition', `attachment; filename="orders-${today}.${format}"`)
        .send(file)
    },
  )
}

export default routes
