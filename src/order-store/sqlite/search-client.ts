import type { Worker } from 'node:worker_threads'
import { startWorker, toWorkerError } from '../../start-worker.js'
import type { OrderFilters } from '../../orders/order-filters.js'
import type { FindResult, Slice } from './find-orders.js'

/** What the thread is asked. */
export interface SearchRequest {
  id: number
  filters: OrderFilters
  slice: Slice
}

/** What it says. */
export type SearchResponse =
  { id: number; found: FindResult } | { id: number; error: string; code: string }

interface Waiting {
  resolve: (found: FindResult) => void
  reject: (error: Error) => void
}

interface Thread {
  worker: Worker
  /** Its own, as one that has failed may still be ending when the next is asked */
  waiting: Map<number, Waiting>
}

/**
 * Searches in a thread of its own, as a short or common text takes long to look for in a large
 * book. The thread starts with the first search and is replaced where it fails.
 */
export function startSearchWorker(path: string, timeZone: string) {
  let thread: Thread | null = null
  let lastId = 0

  function start(): Thread {
    const waiting = new Map<number, Waiting>()
    const started = startWorker('order-store/sqlite/search-worker', { path, timeZone })
    started.unref()
    started.on('message', (answer: SearchResponse) => {
      const asked = waiting.get(answer.id)
      waiting.delete(answer.id)
      if ('found' in answer) asked?.resolve(answer.found)
      else asked?.reject(Object.assign(new Error(answer.error), { code: answer.code }))
    })
    const fail = (thrown: unknown): void => {
      const error = toWorkerError(thrown)
      if (thread?.worker === started) thread = null
      for (const asked of waiting.values()) asked.reject(error)
      waiting.clear()
    }
    started.on('error', fail)
    started.on('exit', () => fail(new Error('the search thread has ended')))
    return { worker: started, waiting }
  }

  return {
    find(filters: OrderFilters, slice: Slice): Promise<FindResult> {
      thread ??= start()
      const { worker, waiting } = thread
      const question: SearchRequest = { id: ++lastId, filters, slice }
      return new Promise((resolve, reject) => {
        waiting.set(question.id, { resolve, reject })
        worker.postMessage(question)
      })
    },
    async close(): Promise<void> {
      await thread?.worker.terminate()
    },
  }
}
