import { randomFill } from 'node:crypto'

const ASKED_EVERY_MS = 20

/**
 * Tells for how long jobs wait at the moment for one of the threads that compress answers and
 * hash passwords, in milliseconds. Gives them a small job now and then, as long as it is asked.
 */
export function threadPoolDelay(): () => number {
  const bytes = new Uint8Array(1)
  let last = 0
  let began = -ASKED_EVERY_MS
  let isUnderWay = false

  return () => {
    const elapsed = performance.now() - began
    if (isUnderWay) return Math.max(last, elapsed)
    if (elapsed >= ASKED_EVERY_MS) {
      began = performance.now()
      isUnderWay = true
      randomFill(bytes, () => {
        last = performance.now() - began
        isUnderWay = false
      })
    }
    return last
  }
}
