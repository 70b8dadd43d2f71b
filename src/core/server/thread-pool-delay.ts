import { randomFill } from 'node:crypto'

const PROBE_INTERVAL_MS = 20
const TICK_MS = 5
/** If there were fewer ticks during a probe, the main thread caused the delay, not the pool. */
const MIN_TICKS = 3

/**
 * Measures how long jobs wait for a thread of libuv's pool, which compresses responses and hashes
 * passwords. The returned function returns the delay in ms; each call may start a probe.
 */
export function createThreadPoolMonitor(): () => number {
  const buffer = new Uint8Array(1)
  let lastDelayMs = 0
  let ticks = 0
  let start = -PROBE_INTERVAL_MS
  let isProbing = false

  const getElapsedMs = (): number => (ticks < MIN_TICKS ? 0 : performance.now() - start)

  function probe(): void {
    start = performance.now()
    ticks = 0
    isProbing = true
    const ticker = setInterval(() => ticks++, TICK_MS)
    ticker.unref()
    randomFill(buffer, () => {
      clearInterval(ticker)
      lastDelayMs = getElapsedMs()
      isProbing = false
    })
  }

  return () => {
    if (!isProbing && performance.now() - start >= PROBE_INTERVAL_MS) probe()
    return isProbing ? Math.max(lastDelayMs, getElapsedMs()) : lastDelayMs
  }
}
