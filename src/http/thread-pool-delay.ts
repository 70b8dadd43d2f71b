import { randomFill } from 'node:crypto'

const ASKED_EVERY_MS = 20
const TICK_MS = 5
/** So often the main thread must have come round while a job waited, or it was itself at fault. */
const FEWEST_TICKS = 3

/**
 * Tells for how long jobs wait at the moment for one of the threads that compress answers and
 * hash passwords, in milliseconds. Gives them a small job now and then, as long as it is asked.
 */
export function createThreadPoolMonitor(): () => number {
  const bytes = new Uint8Array(1)
  let last = 0
  let ticks = 0
  let began = -ASKED_EVERY_MS
  let isUnderWay = false

  const elapsed = (): number => (ticks < FEWEST_TICKS ? 0 : performance.now() - began)

  function ask(): void {
    began = performance.now()
    ticks = 0
    isUnderWay = true
    const ticking = setInterval(() => ticks++, TICK_MS)
    ticking.unref()
    randomFill(bytes, () => {
      clearInterval(ticking)
      last = elapsed()
      isUnderWay = false
    })
  }

  return () => {
    if (!isUnderWay && performance.now() - began >= ASKED_EVERY_MS) ask()
    return isUnderWay ? Math.max(last, elapsed()) : last
  }
}
