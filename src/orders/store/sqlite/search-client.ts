import type { Worker } from 'node:worker_threads'
import type { OrderFilters } from '../../order-filters.js'
import { startWorker, toWorkerError } from '../../../database/start-worker.js'
import type { ListSlice } from '../order-store.js'
import type { FindResult } from './find-orders.js'

/** A message to the worker. */
export interface SearchRequest {
  id: number
  filters: OrderFilters
  slice: ListSlice
}

/** A message from the worker. */
export type SearchResponse =
  { id: number; found: FindResult } | { id: number; error: string; code: string }

interface PendingSearch {
  resolve: (found: FindResult) => void
  reject: (error: Error) => void
}

interface SearchThread {
  worker: Worker
  /**
   * One map per worker, because a failed worker may still be exiting when its replacement starts
   */
  pending: Map<number, PendingSearch>
}

/**
 * Searches in a worker thread, because searching a large database for short or common text is slow.
 * The worker starts with the first search and is replaced after a failure.
 */
export function startSearchWorker(path: string, timeZone: string) {
  let thread: SearchThread | null = null
  let lastId = 0

  function start(): SearchThread {
    const pending = new Map<number, PendingSearch>()
    const worker = startWorker('orders/store/sqlite/search-worker', { path, timeZone })
    worker.unref()
    worker.on('message', (response: SearchResponse) => {
      const search = pending.get(response.id)
      pending.delete(response.id)
      if ('found' in response) search?.resolve(response.found)
      else search?.reject(Object.assign(new Error(response.error), { code: response.code }))
    })
    const onFailure = (thrown: unknown): void => {
      const error = toWorkerError(thrown)
      if (thread?.worker === worker) thread = null
      for (const search of pending.values()) search.reject(error)
      pending.clear()
    }
    worker.on('error', onFailure)
    worker.on('exit', () => onFailure(new Error('The search worker exited')))
    return { worker, pending }
  }

  return {
    find(filters: OrderFilters, slice: ListSlice): Promise<FindResult> {
      thread ??= start()
      const { worker, pending } = thread
      const request: SearchRequest = { id: ++lastId, filters, slice }
      return new Promise((resolve, reject) => {
        pending.set(request.id, { resolve, reject })
        worker.postMessage(request)
      })
    },
    async close(): Promise<void> {
      await thread?.worker.terminate()
    },
  }
}
