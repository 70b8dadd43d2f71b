import { Readable } from 'node:stream'
import { startWorker, toWorkerError } from '../database/start-worker.js'
import type { OrderDatabase } from '../orders/store/order-store.js'
import { CHUNK_BYTES } from './chunked-writer.js'
import type { ExportRequest } from './export-request.js'

/** Input of the worker thread. */
export interface ExportTask extends ExportRequest {
  source: OrderDatabase
  /** Time zone of the date filters and of Excel dates */
  timeZone: string
}

/** Cancels the export if the client reads nothing for this long. */
const STALL_TIMEOUT_MS = 120_000

/**
 * Rows are used only briefly, so frequent garbage collection saves memory and takes no more time.
 */
const MEMORY = { maxYoungGenerationSizeMb: 8 }

/**
 * Exports orders in a worker thread, no faster than the stream is read. The thread and its database
 * connection end with the stream.
 */
export function startExportWorker(task: ExportTask, stallTimeoutMs = STALL_TIMEOUT_MS): Readable {
  const worker = startWorker('exports/export-worker', task, MEMORY)
  let stallTimer: NodeJS.Timeout | undefined
  let isComplete = false

  const file = new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      clearTimeout(stallTimer)
      worker.postMessage('next')
    },
    destroy(error, done) {
      clearTimeout(stallTimer)
      worker.terminate().then(() => done(error), done)
    },
  })
  worker.on('message', (chunk: Uint8Array | null) => {
    isComplete = chunk === null
    clearTimeout(stallTimer)
    stallTimer = setTimeout(
      () => file.destroy(new Error('the client stopped reading the export')),
      stallTimeoutMs,
    ).unref()
    file.push(chunk)
  })
  worker.on('error', (thrown) => file.destroy(toWorkerError(thrown)))
  worker.on('exit', () => {
    if (!isComplete) file.destroy(new Error('the export worker exited unexpectedly'))
  })
  return file
}
