import { Readable } from 'node:stream'
import { startWorker, toWorkerError } from '../../start-worker.js'
import { CHUNK_BYTES } from './chunked-writer.js'
import type { ExportRequest } from './export-request.js'

/** What a thread is started with. */
export interface ExportTask extends ExportRequest {
  /** The order book's file */
  path: string
  /** Zone of the filters' days, and of dates that have none of their own */
  timeZone: string
}

/** A reader that takes nothing for so long is gone, or might as well be: a thread waits for it. */
const STALLS_AFTER_MS = 120_000

/**
 * A file of orders, made in a thread of its own no faster than it is read. The thread and its
 * connection to the book end with the stream, however that ends.
 */
export function startExportWorker(task: ExportTask, stallsAfterMs = STALLS_AFTER_MS): Readable {
  const worker = startWorker('orders/export/export-worker', task)
  let stall: NodeJS.Timeout | undefined
  let isComplete = false

  const file = new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      clearTimeout(stall)
      worker.postMessage('next')
    },
    destroy(error, done) {
      clearTimeout(stall)
      worker.terminate().then(() => done(error), done)
    },
  })
  worker.on('message', (chunk: Uint8Array | null) => {
    isComplete = chunk === null
    clearTimeout(stall)
    stall = setTimeout(
      () => file.destroy(new Error('nobody reads the export any more')),
      stallsAfterMs,
    ).unref()
    file.push(chunk)
  })
  worker.on('error', (thrown) => file.destroy(toWorkerError(thrown)))
  worker.on('exit', () => {
    if (!isComplete) file.destroy(new Error('the export thread has ended'))
  })
  return file
}
