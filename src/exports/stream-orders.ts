import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createValidationProblem } from '../core/http/problem.js'
import type { OrderStore } from '../orders/store/order-store.js'
import { createDayCalendar, formatIsoDate } from '../core/formatting/day-calendar.js'
import { findFilterErrors, type OrderFilters } from '../orders/order-filters.js'
import { CONTENT_TYPES, type ExportQuery } from './export-request.js'
import { createOrderExports } from './order-exports.js'
import type { RecordExport } from './record-export.js'

interface StreamOptions {
  store: Pick<OrderStore, 'source' | 'check' | 'createErrorTranslator'>
  timeZone: string
  /** Replaces the filters of other features with the IDs of the orders that match them */
  resolveFilters?: (filters: OrderFilters) => Promise<OrderFilters>
  /** Called when an export has started, before anything is sent */
  recordExport?: RecordExport
}

/** Sends the exported file as the response; throws a Problem if the export cannot start. */
export type StreamOrders = (
  request: FastifyRequest,
  reply: FastifyReply,
  query: ExportQuery,
) => Promise<FastifyReply>

/** Creates the handler shared by the API and the pages. */
export function createOrderStream(
  app: FastifyInstance,
  { store, timeZone, resolveFilters, recordExport }: StreamOptions,
): StreamOrders {
  const exports = createOrderExports({ source: store.source, timeZone })
  const calendar = createDayCalendar(timeZone)

  // Let short exports finish; cancel the others after half of the shutdown timeout.
  app.addHook('preClose', async () => {
    setTimeout(() => void exports.stop(), app.config.SHUTDOWN_TIMEOUT_MS / 2).unref()
  })

  return async (request, reply, { format, sort, ...filters }) => {
    const errors = findFilterErrors(filters)
    if (errors.length > 0) throw createValidationProblem(errors)
    // Checked when the export starts, because the database may be replaced while the export waits
    // for a slot.
    let translateError = (error: unknown) => error
    const onStart = () => {
      store.check()
      translateError = store.createErrorTranslator()
    }

    const disconnected = new AbortController()
    reply.raw.once('close', () => disconnected.abort())
    let file = Readable.from([])
    if (request.method !== 'HEAD') {
      try {
        const resolved = (await resolveFilters?.(filters)) ?? filters
        const task = { format, sort, filters: resolved }
        file = await exports.start(task, disconnected.signal, onStart)
        await recordExport?.(request, { format, sort, filters })
        disconnected.signal.throwIfAborted()
      } catch (error) {
        file.destroy()
        if (disconnected.signal.aborted) return reply.hijack()
        throw translateError(error)
      }
    }
    // Lets the store record that the database is damaged; the client sees a broken connection.
    file.on('error', (error) => translateError(error))
    const today = formatIsoDate(calendar.dayOf(Date.now()))
    return reply
      .type(CONTENT_TYPES[format])
      .header('content-disposition', `attachment; filename="orders-${today}.${format}"`)
      .send(file)
  }
}
