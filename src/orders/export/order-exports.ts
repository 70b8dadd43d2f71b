import { once } from 'node:events'
import { addAbortSignal, type Readable } from 'node:stream'
import { Problem } from '../../plugins/problem.js'
import type { ExportRequest } from './export-request.js'
import { exportThread } from './export-thread.js'

/** Each export keeps a processor busy and the book's log from being tidied up. */
const MOST_AT_ONCE = 2
const RETRY_AFTER_SECONDS = 15

interface Options {
  /** The order book's file */
  path: string
  timeZone: string
}

/** Exports of an order book, a few at once. */
export function orderExports({ path, timeZone }: Options) {
  const running = new Set<Readable>()

  return {
    /**
     * A file of orders whose first bytes are there already: what goes wrong before them is
     * thrown, what goes wrong later destroys the stream. Throws a Problem where too many run.
     */
    async start(request: ExportRequest, signal: AbortSignal): Promise<Readable> {
      if (running.size >= MOST_AT_ONCE) {
        throw new Problem(503, 'Other exports are under way: try again when they are done.', {
          headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
        })
      }
      const file = exportThread({ path, timeZone, ...request })
      running.add(file)
      file.once('close', () => running.delete(file))
      // Between here and its reader, nobody else listens.
      file.on('error', () => {})
      addAbortSignal(signal, file)
      await once(file, 'readable')
      return file
    },
    /** How many are under way. */
    underWay: (): number => running.size,
    /** Ends all that are under way, unfinished. */
    async end(): Promise<void> {
      const ended = [...running].map(
        (file) => new Promise<void>((resolve) => file.once('close', resolve)),
      )
      const stopping = new Problem(503, 'The service is stopping: try again in a moment.', {
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
      })
      for (const file of running) file.destroy(stopping)
      await Promise.all(ended)
    },
  }
}
