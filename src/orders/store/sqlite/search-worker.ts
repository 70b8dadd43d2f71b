import { parentPort, workerData } from 'node:worker_threads'
import { getErrorCode } from '../../../database/database-error.js'
import { openReadOnly } from '../../../database/open-database.js'
import { createDayCalendar } from '../../../core/formatting/day-calendar.js'
import { createOrderFinder } from './find-orders.js'
import type { SearchRequest, SearchResponse } from './search-client.js'

/* The worker thread that runs searches, one at a time. */
const { path, timeZone } = workerData as { path: string; timeZone: string }
const finder = createOrderFinder(openReadOnly(path), createDayCalendar(timeZone))

function handleRequest({ id, filters, slice }: SearchRequest): SearchResponse {
  try {
    return { id, found: finder.find(filters, slice) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { id, error: message, code: getErrorCode(error) }
  }
}

parentPort?.on('message', (request: SearchRequest) =>
  parentPort?.postMessage(handleRequest(request)),
)
