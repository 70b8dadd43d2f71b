import { EventEmitter, once } from 'node:events'
import { addAbortSignal, type Readable } from 'node:stream'
import { Problem } from '../core/http/problem.js'
import type { OrderDatabase } from '../orders/store/order-store.js'
import { startExportWorker } from './export-client.js'
import type { ExportRequest } from './export-request.js'

/** Each export keeps a CPU core busy and delays WAL checkpoints. */
const MAX_CONCURRENT_EXPORTS = 2
const DEFAULT_MAX_WAIT_MS = 5000
const RETRY_AFTER_SECONDS = 15

const createUnavailableProblem = (detail: string): Problem =>
  new Problem(503, detail, { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } })
const createBusyProblem = (): Problem =>
  createUnavailableProblem('Other exports are running. Try again in a few seconds.')
const createStoppingProblem = (): Problem =>
  createUnavailableProblem('The service is stopping. Try again in a few seconds.')

interface Options {
  source: OrderDatabase
  timeZone: string
  /** How long an export waits for others to end, ms; set by tests only */
  maxWaitMs?: number
}

/** Runs exports of an order database, with limited concurrency. */
export function createOrderExports({ source, timeZone, maxWaitMs = DEFAULT_MAX_WAIT_MS }: Options) {
  const running = new Set<Readable>()
  let isStopping = false
  /** Emits `slot` when an export ends and when the service stops. */
  const events = new EventEmitter().setMaxListeners(0)

  async function waitForSlot(signal: AbortSignal, timeout: AbortSignal): Promise<void> {
    try {
      await once(events, 'slot', { signal: AbortSignal.any([signal, timeout]) })
    } catch (error) {
      throw signal.aborted ? error : createBusyProblem()
    }
  }

  return {
    /**
     * Starts an export and resolves when its first bytes are available. Errors before that are
     * thrown; later errors destroy the stream. Throws a Problem (503) if no slot becomes free in
     * time.
     *
     * @param onStart called when a slot is free, before the worker starts; its errors are thrown
     */
    async start(
      request: ExportRequest,
      signal: AbortSignal,
      onStart: () => void = () => undefined,
    ): Promise<Readable> {
      const timeout = AbortSignal.timeout(maxWaitMs)
      // Do not await between this check and running.add(), or the limit could be exceeded.
      while (running.size >= MAX_CONCURRENT_EXPORTS && !isStopping) {
        await waitForSlot(signal, timeout)
      }
      if (isStopping) throw createStoppingProblem()
      onStart()
      const file = startExportWorker({ source, timeZone, ...request })
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
    async stop(): Promise<void> {
      isStopping = true
      events.emit('slot')
      const closed = [...running].map(
        (file) => new Promise<void>((resolve) => file.once('close', resolve)),
      )
      for (const file of running) file.destroy(createStoppingProblem())
      await Promise.all(closed)
    },
  }
}
