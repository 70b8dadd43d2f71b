import { randomFill } from 'node:crypto'

const ASKED_EVERY_MS = 20
const KNOWN_FOR_MS = 1_000

/**
 * Tells for how long jobs wait at the moment for one of the threads that compress answers and
 * hash passwords, in milliseconds. Gives them a small job now and then, as long as it is asked;
 * one that took long counts when the one before it did, as the main thread may have been at fault.
 */
export function threadPoolDelay(): () => number {
  const bytes = new Uint8Array(1)
  let last = 0
  let before = 0
  let began = 0
  let isUnderWay = false

  return () => {
    const now = performance.now()
    const elapsed = now - began
    if (isUnderWay) return Math.min(before, Math.max(last, elapsed))
    if (elapsed > KNOWN_FOR_MS) last = before = 0
    if (elapsed >= ASKED_EVERY_MS) {
      began = now
      isUnderWay = true
      randomFill(bytes, () => {
        before = last
        last = performance.now() - began
        isUnderWay = false
      })
    }
    return Math.min(before, last)
  }
}
