import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createValidationProblem } from '../../http/problem.js'
import { createDayCalendar, formatIsoDate } from '../day-calendar.js'
import { findFilterErrors } from '../order-filters.js'
import type { OrderStore } from '../../order-store/order-store.js'
import { CONTENT_TYPES, type ExportQuery } from './export-request.js'
import { createOrderExports } from './order-exports.js'

export interface StreamOptions {
  book: Pick<OrderStore, 'path' | 'check' | 'explainer'>
  timeZone: string
}

/** Answers with a file of orders; throws a Problem where that cannot be. */
export type StreamOrders = (
  request: FastifyRequest,
  reply: FastifyReply,
  wanted: ExportQuery,
) => Promise<FastifyReply>

/** The one way to export, for the API and for pages. */
export function createOrderStream(
  app: FastifyInstance,
  { book, timeZone }: StreamOptions,
): StreamOrders {
  const exports = createOrderExports({ path: book.path, timeZone })
  const calendar = createDayCalendar(timeZone)

  // A stop waits for what is under way; half its time is left to end what takes longer.
  app.addHook('preClose', async () => {
    setTimeout(() => void exports.end(), app.config.SHUTDOWN_TIMEOUT_MS / 2).unref()
  })

  return async (request, reply, { format, sort, ...filters }) => {
    const faults = findFilterErrors(filters)
    if (faults.length > 0) throw createValidationProblem(faults)
    // As long as it waits for its turn, the book may become another.
    let told = (error: unknown) => error
    const onTurn = () => {
      book.check()
      told = book.explainer()
    }

    const leaving = new AbortController()
    reply.raw.once('close', () => leaving.abort())
    let file = Readable.from([])
    if (request.method !== 'HEAD') {
      try {
        file = await exports.start({ format, sort, filters }, leaving.signal, onTurn)
      } catch (error) {
        if (leaving.signal.aborted) return reply.hijack() // nobody is left to answer
        throw told(error)
      }
    }
    // Its reader is told by the break; here it is noted, in case the book is damaged.
    file.on('error', (error) => told(error))
    const today = formatIsoDate(calendar.dayOf(Date.now()))
    return reply
      .type(CONTENT_TYPES[format])
      .header('content-disposition', `attachment; filename="orders-${today}.${format}"`)
      .send(file)
  }
}
