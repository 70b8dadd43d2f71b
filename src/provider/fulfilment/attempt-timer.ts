import type { FulfilmentAttempt } from '../../orders/attempt.js'

/**
 * Measures how long ago attempts started: with the monotonic clock for recent attempts by this
 * process, with the wall clock for others.
 *
 * @param maxAgeMs older attempts are discarded
 */
export function createAttemptTimer(maxAgeMs: number) {
  /** `performance.now` at the start, by reference, oldest first */
  const startTimes = new Map<string, number>()

  return {
    start(reference: string): void {
      const now = performance.now()
      for (const [old, time] of startTimes) {
        if (now - time <= maxAgeMs) break
        startTimes.delete(old)
      }
      startTimes.set(reference, now)
    },
    getElapsedMs({ reference, sentAt }: FulfilmentAttempt): number {
      const time = startTimes.get(reference)
      return time === undefined ? Date.now() - Date.parse(sentAt) : performance.now() - time
    },
    /** Attempts in memory */
    count: (): number => startTimes.size,
  }
}
