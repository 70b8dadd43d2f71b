import type { StateFile } from './state-file.js'
import { NotPersistedError, type KeyValueStore } from './key-value-store.js'

/** Counts that strangers cause must not fill the memory: beyond this, the longest untouched go. */
const MOST_COUNTS = 100_000

const SWEEP_MS = 60_000

interface Count {
  taken: number
  /** As `performance.now` tells it, so that a clock that is set makes no wait longer */
  expires: number
}

export interface MemoryStore extends KeyValueStore {
  close(): void
}

/** The memory of a service that is one process; what it remembers, it does after a restart too. */
export function openMemoryStore(keeper: StateFile): MemoryStore {
  const remembered = keeper.read()
  const counts = new Map<string, Count>()

  const sweep = setInterval(() => {
    const now = { atClock: Date.now(), elapsed: performance.now() }
    for (const [key, expires] of remembered) if (expires <= now.atClock) remembered.delete(key)
    for (const [key, { expires }] of counts) if (expires <= now.elapsed) counts.delete(key)
    catchUp()
  }, SWEEP_MS)
  sweep.unref()

  function catchUp(): void {
    try {
      keeper.catchUp()
    } catch {
      // It was told when it first failed, and is tried again.
    }
  }

  function current(key: string): Count | undefined {
    const count = counts.get(key)
    return count && count.expires > performance.now() ? count : undefined
  }

  return {
    async remember(key, milliseconds) {
      const expires = Date.now() + milliseconds
      remembered.set(key, expires)
      try {
        keeper.add(key, expires)
      } catch (error) {
        throw new NotPersistedError('', { cause: error })
      }
    },
    remembers: async (key) => (remembered.get(key) ?? 0) > Date.now(),
    async take(key, { most, windowMs }) {
      const now = performance.now()
      const count = current(key) ?? { taken: 0, expires: now + windowMs }
      // Set anew, it is the last to be displaced.
      counts.delete(key)
      counts.set(key, count)
      const [oldest] = counts.keys()
      if (counts.size > MOST_COUNTS && oldest !== undefined) counts.delete(oldest)
      if (count.taken >= most) return count.expires - now
      count.taken++
      return 0
    },
    async giveBack(key) {
      const count = current(key)
      if (count && count.taken > 1) count.taken--
      else counts.delete(key)
    },
    close() {
      clearInterval(sweep)
      catchUp()
    },
  }
}
