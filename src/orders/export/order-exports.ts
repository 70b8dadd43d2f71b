import { EventEmitter, once } from 'node:events'
import { addAbortSignal, type Readable } from 'node:stream'
import { Problem } from '../../http/problem.js'
import type { ExportRequest } from './export-request.js'
import { startExportWorker } from './export-client.js'

/** Each export keeps a processor busy and the book's log from being tidied up. */
const MOST_AT_ONCE = 2
/** Most exports are done long before; who waits for longer is told, and can do something else. */
const PATIENCE_MS = 5000
const RETRY_AFTER_SECONDS = 15

const refusal = (detail: string): Problem =>
  new Problem(503, detail, { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } })
const tooMany = (): Problem => refusal('Other exports are under way: try again when they are done.')
const stopping = (): Problem => refusal('The service is stopping: try again in a moment.')

interface Options {
  /** The order book's file */
  path: string
  timeZone: string
}

/** Exports of an order book, a few at once. */
export function createOrderExports({ path, timeZone }: Options) {
  const running = new Set<Readable>()
  let isEnding = false
  /** Emits `room` when one has ended, and when none begins any more. */
  const ends = new EventEmitter().setMaxListeners(0)

  /** Waits for `room`; throws where that takes too long, or the one who asks leaves. */
  async function waitForRoom(asker: AbortSignal, patience: AbortSignal): Promise<void> {
    try {
      await once(ends, 'room', { signal: AbortSignal.any([asker, patience]) })
    } catch (error) {
      throw asker.aborted ? error : tooMany()
    }
  }

  return {
    /**
     * A file of orders whose first bytes are there already: what goes wrong before them is
     * thrown, what goes wrong later destroys the stream. Throws a Problem where too many run for
     * too long.
     *
     * @param onTurn called when its turn has come; what it throws is thrown
     */
    async start(
      request: ExportRequest,
      signal: AbortSignal,
      onTurn: () => void = () => undefined,
    ): Promise<Readable> {
      const patience = AbortSignal.timeout(PATIENCE_MS)
      // Nothing may come between seeing that there is room and taking it.
      while (running.size >= MOST_AT_ONCE && !isEnding) await waitForRoom(signal, patience)
      if (isEnding) throw stopping()
      onTurn()
      const file = startExportWorker({ path, timeZone, ...request })
      running.add(file)
      file.once('close', () => {
        running.delete(file)
        ends.emit('room')
      })
      // Between here and its reader, nobody else listens.
      file.on('error', () => {})
      addAbortSignal(signal, file)
      await once(file, 'readable')
      return file
    },
    /** How many are under way. */
    underWay: (): number => running.size,
    /** Ends all that are under way, unfinished, and those that wait. */
    async end(): Promise<void> {
      isEnding = true
      ends.emit('room')
      const ended = [...running].map(
        (file) => new Promise<void>((resolve) => file.once('close', resolve)),
      )
      for (const file of running) file.destroy(stopping())
      await Promise.all(ended)
    },
  }
}
