import { EventEmitter, once } from 'node:events'
import { addAbortSignal, Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createDayCalendar, formatIsoDate } from '../core/formatting/day-calendar.js'
import { createValidationProblem, Problem, problemResponses } from '../core/http/problem.js'
import { addFreshnessHeader } from '../orders/freshness.js'
import { DEFAULT_SORT, findFilterErrors } from '../orders/order-filters.js'
import {
  CONTENT_TYPES,
  ExportQuery,
  startExportWorker,
  type ExportRequest,
  type ExportTask,
} from './export-thread.js'

/** Each export keeps a CPU core busy and delays WAL checkpoints. */
const MAX_CONCURRENT_EXPORTS = 2
const MAX_WAIT_MS = 5000
const RETRY_AFTER_SECONDS = 15

const createUnavailableProblem = (reason: string): Problem =>
  new Problem(503, `${reason}. Try again in a few seconds.`, {
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })
const createStoppingProblem = () => createUnavailableProblem('The service is stopping')

/** Runs exports of an order database, with limited concurrency. */
export function createOrderExports(database: Pick<ExportTask, 'source' | 'timeZone'>) {
  const running = new Set<Readable>()
  let isStopping = false
  /** Emits `slot` when an export ends and when the service stops. */
  const events = new EventEmitter().setMaxListeners(0)

  async function waitForSlot(signal: AbortSignal, timeout: AbortSignal): Promise<void> {
    try {
      await once(events, 'slot', { signal: AbortSignal.any([signal, timeout]) })
    } catch (error) {
      throw signal.aborted ? error : createUnavailableProblem('Other exports are running')
    }
  }

  return {
    /**
     * Starts an export and resolves when its first bytes are available. Errors before that are
     * thrown; later errors destroy the stream. Throws a Problem (503) if no slot becomes free in
     * time.
     */
    async start(request: ExportRequest, signal: AbortSignal): Promise<Readable> {
      const timeout = AbortSignal.timeout(MAX_WAIT_MS)
      // Do not await between this check and running.add(), or the limit could be exceeded.
      while (running.size >= MAX_CONCURRENT_EXPORTS && !isStopping) {
        await waitForSlot(signal, timeout)
      }
      if (isStopping) throw createStoppingProblem()
      const file = startExportWorker({ ...database, ...request })
      running.add(file)
      file.once('close', () => {
        running.delete(file)
        events.emit('slot')
      })
      // Prevents an uncaught error until the caller reads the stream.
      file.on('error', () => {})
      addAbortSignal(signal, file)
      await once(file, 'readable')
      return file
    },
    countRunning: (): number => running.size,
    /** Cancels all running and waiting exports. */
    stop(): void {
      isStopping = true
      events.emit('slot')
      for (const file of running) file.destroy(createStoppingProblem())
    },
  }
}

/** Larger exports require a recent sign-in */
const MAX_ROWS_WITHOUT_RECENT_SIGN_IN = 1000

/** Creates the handler shared by the API and the pages, which sends the exported file. */
function createOrderStream(app: FastifyInstance) {
  const { orders: store, orderFilters, auditLog, config } = app
  const calendar = createDayCalendar(config.TIME_ZONE)
  const exports = createOrderExports({ source: store.source, timeZone: config.TIME_ZONE })

  // Let short exports finish; cancel the others after half of the shutdown timeout.
  app.addHook('preClose', async () => {
    setTimeout(() => exports.stop(), config.SHUTDOWN_TIMEOUT_MS / 2).unref()
  })

  /**
   * Records an export in the audit log, whether or not the client receives all of it. Throws a
   * Problem (403) if a large export requires a more recent sign-in.
   */
  async function recordExport(request: FastifyRequest, { format, filters }: ExportRequest) {
    const slice = { sort: DEFAULT_SORT, offset: 0, limit: 1 }
    const { total: rows, isTotalExact } = await store.list(filters, slice)
    if (rows > MAX_ROWS_WITHOUT_RECENT_SIGN_IN) request.requireRecentSignIn()
    // The search text is not recorded, because it often contains a name or an email address.
    const { q, ...others } = filters
    const recorded = q === undefined ? others : { ...others, hasSearch: true }
    await auditLog.record(request, {
      action: 'orders.exported',
      details: { format, filters: recorded, rows, ...(isTotalExact ? {} : { isEstimate: true }) },
    })
  }

  /** Throws a Problem if the export cannot start. */
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    { format, sort, ...filters }: ExportQuery,
  ): Promise<FastifyReply> => {
    const errors = findFilterErrors(filters)
    if (errors.length > 0) throw createValidationProblem(errors)

    const disconnected = new AbortController()
    reply.raw.once('close', () => disconnected.abort())
    let file = Readable.from([])
    if (request.method !== 'HEAD') {
      try {
        store.check()
        const resolved = await orderFilters.resolve(filters)
        file = await exports.start({ format, sort, filters: resolved }, disconnected.signal)
        await recordExport(request, { format, sort, filters })
        disconnected.signal.throwIfAborted()
      } catch (error) {
        file.destroy()
        if (disconnected.signal.aborted) return reply.hijack()
        // The database may have been moved or removed while the export waited.
        store.check()
        throw store.translateError(error)
      }
    }
    // Lets the store record that the database is damaged; the client sees a broken connection.
    file.on('error', (error) => store.translateError(error))
    const today = formatIsoDate(calendar.dayOf(Date.now()))
    return reply
      .type(CONTENT_TYPES[format])
      .header('content-disposition', `attachment; filename="orders-${today}.${format}"`)
      .send(file)
  }
}

/** The CSV and Excel export of orders. */
const orderExports: FastifyPluginAsyncTypebox = async (app) => {
  addFreshnessHeader(app)
  const sendOrders = createOrderStream(app)

  app.get(
    '/api/admin/orders/export',
    {
      config: { permission: 'orders:export' },
      schema: {
        tags: ['Orders'],
        operationId: 'exportOrders',
        summary: 'Export orders as CSV or Excel',
        description:
          'Exports all orders that match the filters. CSV files have one column per field, named after the field, and columns for the latest payment of each order. Text that a spreadsheet would run as a formula is prefixed with an apostrophe; remove the first apostrophe to restore the original text.',
        querystring: ExportQuery,
        response: {
          200: {
            description: 'The file',
            headers: {
              'Content-Disposition': Type.String({ description: 'File name' }),
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

  // Browser downloads: the same file, but errors are HTML pages.
  app.portalPages.push(async (scope) => {
    scope
      .withTypeProvider<TypeBoxTypeProvider>()
      .get(
        '/admin/orders/export',
        { config: { permission: 'orders:export' }, schema: { querystring: ExportQuery } },
        async (request, reply) => sendOrders(request, reply, request.query),
      )
  })
}

export default orderExports
