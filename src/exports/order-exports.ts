import { EventEmitter, once } from 'node:events'
import { addAbortSignal, type Readable } from 'node:stream'
import { Problem } from '../core/http/problem.js'
import type { ExportRequest } from './export-request.js'
import { startExportWorker, type ExportTask } from './export-thread.js'

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
