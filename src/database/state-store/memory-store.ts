import type { KeyValueStore } from './key-value-store.js'

/** Anyone can create counters, so the least recently used are evicted to limit memory use. */
const MAX_COUNTERS = 100_000

const SWEEP_INTERVAL_MS = 60_000

interface Counter {
  consumed: number
  /** A `performance.now` timestamp, so that a clock change does not extend a wait */
  expires: number
}

interface MemoryStore extends KeyValueStore {
  close(): void
}

/** The state of a single process. */
export function openMemoryStore(): MemoryStore {
  /** When each key expires, ms since 1970 */
  const keys = new Map<string, number>()
  const counters = new Map<string, Counter>()

  const sweep = setInterval(() => {
    const [time, elapsed] = [Date.now(), performance.now()]
    for (const [key, expires] of keys) if (expires <= time) keys.delete(key)
    for (const [key, { expires }] of counters) if (expires <= elapsed) counters.delete(key)
  }, SWEEP_INTERVAL_MS)
  sweep.unref()

  function findCounter(key: string): Counter | undefined {
    const counter = counters.get(key)
    return counter && counter.expires > performance.now() ? counter : undefined
  }

  return {
    async set(key, ttlMs) {
      keys.set(key, Date.now() + ttlMs)
    },
    has: async (key) => (keys.get(key) ?? 0) > Date.now(),
    async consume(key, { limit, windowMs }) {
      const now = performance.now()
      const counter = findCounter(key) ?? { consumed: 0, expires: now + windowMs }
      // Move the counter to the end of the eviction order.
      counters.delete(key)
      counters.set(key, counter)
      const [oldest] = counters.keys()
      if (counters.size > MAX_COUNTERS && oldest !== undefined) counters.delete(oldest)
      if (counter.consumed >= limit) return counter.expires - now
      counter.consumed++
      return 0
    },
    async refund(key) {
      const counter = findCounter(key)
      if (counter && counter.consumed > 1) counter.consumed--
      else counters.delete(key)
    },
    close: () => clearInterval(sweep),
  }
}
