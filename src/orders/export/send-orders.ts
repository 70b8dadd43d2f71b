import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalidInput } from '../../plugins/problem.js'
import { dayCalendar, isoDate } from '../book/day-calendar.js'
import { filterFaults } from '../order-filters.js'
import type { OrderStore } from '../order-store.js'
import { CONTENT_TYPES, type ExportQuery } from './export-request.js'
import { orderExports } from './order-exports.js'

export interface SenderOptions {
  book: Pick<OrderStore, 'path' | 'check' | 'explainer'>
  timeZone: string
}

/** Answers with a file of orders; throws a Problem where that cannot be. */
export type SendOrders = (
  request: FastifyRequest,
  reply: FastifyReply,
  wanted: ExportQuery,
) => Promise<FastifyReply>

/** The one way to export, for the API and for pages. */
export function ordersSender(app: FastifyInstance, { book, timeZone }: SenderOptions): SendOrders {
  const exports = orderExports({ path: book.path, timeZone })
  const calendar = dayCalendar(timeZone)

  // A stop waits for what is under way; half its time is left to end what takes longer.
  app.addHook('preClose', async () => {
    setTimeout(() => void exports.end(), app.config.SHUTDOWN_TIMEOUT_MS / 2).unref()
  })

  return async (request, reply, { format, sort, ...filters }) => {
    const faults = filterFaults(filters)
    if (faults.length > 0) throw invalidInput(faults)
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
    const today = isoDate(calendar.dayOf(Date.now()))
    return reply
      .type(CONTENT_TYPES[format])
      .header('content-disposition', `attachment; filename="orders-${today}.${format}"`)
      .send(file)
  }
}
