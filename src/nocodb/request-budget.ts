/** Urgent: a user is waiting for the response. Background: synchronisation. */
export type Priority = 'urgent' | 'background'

/** Maximum number of urgent requests in a row while a background request is queued. */
const MAX_URGENT_IN_A_ROW = 8

/**
 * Limits a process's requests per second (sliding window). Urgent requests go first, but background
 * requests are not starved.
 */
export function createRequestBudget(requestsPerSecond: number) {
  const maxPerWindow = Math.max(1, Math.floor(requestsPerSecond))
  const windowMs = (maxPerWindow / requestsPerSecond) * 1000
  /** Start times of the latest requests, at most `maxPerWindow` */
  const started: number[] = []
  const queues: Record<Priority, (() => void)[]> = { urgent: [], background: [] }
  let urgentInARow = 0
  let pausedUntil = 0
  let timer: NodeJS.Timeout | undefined

  function getNextStart(): number {
    const oldest = started.length < maxPerWindow ? undefined : started[0]
    return Math.max(oldest === undefined ? 0 : oldest + windowMs, pausedUntil)
  }

  function takeNext(): (() => void) | undefined {
    const { urgent, background } = queues
    if (urgent.length > 0 && (urgentInARow < MAX_URGENT_IN_A_ROW || background.length === 0)) {
      urgentInARow++
      return urgent.shift()
    }
    urgentInARow = 0
    return background.shift()
  }

  function drain(): void {
    clearTimeout(timer)
    while (queues.urgent.length > 0 || queues.background.length > 0) {
      const now = performance.now()
      const delayMs = getNextStart() - now
      if (delayMs > 0) {
        timer = setTimeout(drain, Math.ceil(delayMs))
        return
      }
      started.push(now)
      if (started.length > maxPerWindow) started.shift()
      takeNext()?.()
    }
  }

  return {
    /** Resolves when a request may be sent; rejects with the signal's reason if it is aborted. */
    acquire(priority: Priority, signal?: AbortSignal): Promise<void> {
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          queues[priority] = queues[priority].filter((queued) => queued !== start)
          reject(signal?.reason as Error)
        }
        const start = (): void => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        }
        if (signal?.aborted) {
          onAbort()
          return
        }
        signal?.addEventListener('abort', onAbort, { once: true })
        queues[priority].push(start)
        drain()
      })
    },
    /** Pauses requests for a duration, ms. */
    pause(milliseconds: number): void {
      pausedUntil = Math.max(pausedUntil, performance.now() + milliseconds)
    },
    /** Remaining time of the pause, ms. */
    getPauseMs: (): number => Math.max(0, pausedUntil - performance.now()),
  }
}

/** Exponential back-off with jitter: between half the delay and the whole delay, ms. */
export function createBackOff({ minMs, maxMs }: { minMs: number; maxMs: number }) {
  let failures = 0
  return {
    /** Counts a failure and returns the delay before the next attempt, ms. */
    nextDelayMs(): number {
      const delayMs = Math.min(minMs * 2 ** Math.min(failures++, 30), maxMs)
      return delayMs * (0.5 + Math.random() / 2)
    },
    reset(): void {
      failures = 0
    },
  }
}
