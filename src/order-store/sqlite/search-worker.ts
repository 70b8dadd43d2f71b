import { parentPort, workerData } from 'node:worker_threads'
import { getErrorCode } from '../../database/database-error.js'
import { createDayCalendar } from '../../orders/day-calendar.js'
import { openReadOnly } from '../../database/open-database.js'
import { createOrderFinder } from './find-orders.js'
import type { SearchResponse, SearchRequest } from './search-client.js'

/* The thread that searches: one question after the other. */
const { path, timeZone } = workerData as { path: string; timeZone: string }
const finder = createOrderFinder(openReadOnly(path), createDayCalendar(timeZone))

function answer({ id, filters, slice }: SearchRequest): SearchResponse {
  try {
    return { id, found: finder.find(filters, slice) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { id, error: message, code: getErrorCode(error) }
  }
}

parentPort?.on('message', (question: SearchRequest) => parentPort?.postMessage(answer(question)))
