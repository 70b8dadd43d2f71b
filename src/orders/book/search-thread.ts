import type { Worker } from 'node:worker_threads'
import { startThread, thrownInThread } from '../../start-thread.js'
import type { OrderFilters } from '../order-filters.js'
import type { Found, Slice } from './order-finder.js'

/** What the thread is asked. */
export interface SearchQuestion {
  id: number
  filters: OrderFilters
  slice: Slice
}

/** What it says. */
export type SearchAnswer =
  { id: number; found: Found } | { id: number; error: string; code: string }

interface Waiting {
  resolve: (found: Found) => void
  reject: (error: Error) => void
}

/**
 * Searches in a thread of its own, as a short or common text takes long to look for in a large
 * book. The thread starts with the first search and is replaced where it fails.
 */
export function searchThread(path: string, timeZone: string) {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | null = null
  let lastId = 0

  function start(): Worker {
    const started = startThread('search-worker', import.meta.url, { path, timeZone })
    started.unref()
    started.on('message', (answer: SearchAnswer) => {
      const asked = waiting.get(answer.id)
      waiting.delete(answer.id)
      if ('found' in answer) asked?.resolve(answer.found)
      else asked?.reject(Object.assign(new Error(answer.error), { code: answer.code }))
    })
    const fail = (thrown: unknown): void => {
      const error = thrownInThread(thrown)
      if (worker === started) worker = null
      for (const asked of waiting.values()) asked.reject(error)
      waiting.clear()
    }
    started.on('error', fail)
    started.on('exit', () => fail(new Error('the search thread has ended')))
    return started
  }

  return {
    find(filters: OrderFilters, slice: Slice): Promise<Found> {
      worker ??= start()
      const question: SearchQuestion = { id: ++lastId, filters, slice }
      return new Promise((resolve, reject) => {
        waiting.set(question.id, { resolve, reject })
        worker?.postMessage(question)
      })
    },
    async close(): Promise<void> {
      await worker?.terminate()
    },
  }
}
