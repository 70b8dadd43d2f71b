import { parentPort, workerData } from 'node:worker_threads'
import { codeOf } from './book-error.js'
import { dayCalendar } from './day-calendar.js'
import { openForReading } from './open-database.js'
import { orderFinder } from './order-finder.js'
import type { SearchAnswer, SearchQuestion } from './search-thread.js'

/* The thread that searches: one question after the other. */
const { path, timeZone } = workerData as { path: string; timeZone: string }
const finder = orderFinder(openForReading(path), dayCalendar(timeZone))

function answer({ id, filters, slice }: SearchQuestion): SearchAnswer {
  try {
    return { id, found: finder.find(filters, slice) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { id, error: message, code: codeOf(error) }
  }
}

parentPort?.on('message', (question: SearchQuestion) => parentPort?.postMessage(answer(question)))
