import { performance } from 'node:perf_hooks'

interface QueuedRequest {
  since: number
  serve: () => void
  reject: () => void
}

interface Options {
  maxWaitMs: number
  /** Whether another request can be served now */
  hasCapacity: () => boolean
}

/** Requests served per tick of the event loop, adapted to how long ticks take. */
const [MIN_BATCH, MAX_BATCH] = [2, 64]
/** A longer tick halves the batch. */
const LONG_TICK_MS = 10
/** Time budget for serving or rejecting within one tick. */
const TICK_BUDGET_MS = 1
const CAPACITY_POLL_MS = 5
/** An event loop that was idle for this long had nothing left to do. */
const IDLE_MS = 0.02

/**
 * Creates a function to call for each request: it returns whether this request and the previous one
 * each arrived alone, after the event loop was idle.
 */
function createLoneArrivalDetector(): () => boolean {
  let totalIdleMs = 0
  let arrivalsSinceIdle = 0
  return () => {
    const idleMs = performance.nodeTiming.idleTime - totalIdleMs
    totalIdleMs += idleMs
    if (idleMs < IDLE_MS) {
      arrivalsSinceIdle++
      return false
    }
    const previous = arrivalsSinceIdle
    arrivalsSinceIdle = 1
    return previous === 1
  }
}

/**
 * FIFO admission queue: serves a bounded batch per tick and rejects requests that have waited
 * longer than `maxWaitMs`. Requests that arrive in the same tick are served together, which about
 * doubles the throughput of short responses, and the event loop accepts new connections between
 * batches. A request that arrives alone is served immediately.
 */
export function createAdmissionQueue({ maxWaitMs, hasCapacity }: Options) {
  const queue: QueuedRequest[] = []
  const arrivesAlone = createLoneArrivalDetector()
  let batchSize = MIN_BATCH

  function rejectExpired(): void {
    const start = performance.now()
    while (queue[0] !== undefined && start - queue[0].since > maxWaitMs) {
      queue.shift()?.reject()
      if (performance.now() - start >= TICK_BUDGET_MS) return
    }
  }

  function adaptBatchSize(tickMs: number): void {
    if (tickMs > LONG_TICK_MS) batchSize = Math.max(MIN_BATCH, batchSize >> 1)
    else batchSize = Math.min(MAX_BATCH, batchSize + 1)
  }

  function processBatch(): void {
    rejectExpired()
    const start = performance.now()
    let served = 0
    while (served < batchSize && queue.length > 0 && hasCapacity()) {
      served++
      queue.shift()?.serve()
      if (performance.now() - start >= TICK_BUDGET_MS) break
    }
    if (queue.length === 0) return
    if (served === 0) {
      setTimeout(processBatch, CAPACITY_POLL_MS)
      return
    }
    setImmediate(() => {
      adaptBatchSize(performance.now() - start)
      processBatch()
    })
  }

  return {
    /** Calls `serve` or `reject` in turn, possibly immediately. */
    enqueue(serve: () => void, reject: () => void): void {
      const isAlone = arrivesAlone()
      if (isAlone && queue.length === 0 && hasCapacity()) {
        serve()
        return
      }
      queue.push({ since: performance.now(), serve, reject })
      if (queue.length === 1) setImmediate(processBatch)
    },
  }
}
