import { Readable, Writable } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'
import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../core/validation/formats.js'
import { startWorker, toWorkerError } from '../database/start-worker.js'
import type { DatabaseSource } from '../database/stream-rows.js'
import { OrderFilters, OrderSortSchema, type OrderSort } from '../orders/order-filters.js'

export const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const
type ExportFormat = keyof typeof CONTENT_TYPES

export interface ExportRequest {
  format: ExportFormat
  filters: OrderFilters
  sort: OrderSort
}

/** Filters and sort of the order list plus the format; exports are not paginated. */
export const ExportQuery = Type.Object(
  {
    ...OrderFilters.properties,
    sort: OrderSortSchema,
    format: stringEnum<ExportFormat>(['csv', 'xlsx'], {
      default: 'csv',
      description: 'File format',
    }),
  },
  { additionalProperties: false },
)
export type ExportQuery = Static<typeof ExportQuery>

/** Input of the worker thread. */
export interface ExportTask extends ExportRequest {
  source: DatabaseSource
  /** Time zone of the date filters and of Excel dates */
  timeZone: string
}

/** Size of the chunks sent between the threads; the last one can be smaller. */
export const CHUNK_BYTES = 64 * 1024

/** Cancels the export if the client reads nothing for this long. */
const STALL_TIMEOUT_MS = 120_000

/**
 * Rows are used only briefly, so frequent garbage collection saves memory and takes no more time.
 * The lower the limits, the more often V8 collects garbage.
 */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 }

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

/**
 * A stream to another thread. Sends one chunk for each message from that thread, and `null` at the
 * end. Chunks are transferred, not copied.
 */
export function createChunkedWriter(port: MessagePort): Writable {
  let chunk = new Uint8Array(CHUNK_BYTES)
  let length = 0
  let requested = 0
  let resume: (() => void) | null = null

  port.on('message', () => {
    requested++
    resume?.()
  })

  async function sendChunk(): Promise<void> {
    while (requested === 0) await new Promise<void>((resolve) => (resume = resolve))
    requested--
    port.postMessage(chunk.subarray(0, length), [chunk.buffer])
    chunk = new Uint8Array(CHUNK_BYTES)
    length = 0
  }

  async function append(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const part = bytes.subarray(from, from + CHUNK_BYTES - length)
      chunk.set(part, length)
      length += part.length
      from += part.length
      if (length === CHUNK_BYTES) await sendChunk()
    }
  }

  return new Writable({
    write(bytes: Buffer, _encoding, done) {
      append(bytes).then(() => done(), done)
    },
    final(done) {
      const sent = length > 0 ? sendChunk() : Promise.resolve()
      sent.then(() => port.postMessage(null)).then(() => done(), done)
    },
  })
}
