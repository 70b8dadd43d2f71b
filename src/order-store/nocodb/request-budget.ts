/** People wait for what is urgent; the rest goes on in the background. */
export type Priority = 'urgent' | 'background'

interface Waiting {
  go: () => void
}

/** So many urgent requests pass before one of the background that waits too. */
const MOST_IN_A_ROW = 8

/**
 * Spreads the requests of a process over time: never more than so many a second, in any second.
 * Urgent ones go first, though the background never comes to a stop.
 */
export function createRequestBudget(perSecond: number) {
  const most = Math.max(1, Math.floor(perSecond))
  const windowMs = (most / perSecond) * 1000
  /** When the last requests began, at most as many as go in a window */
  const begun: number[] = []
  const queues: Record<Priority, Waiting[]> = { urgent: [], background: [] }
  let inARow = 0
  let pausedUntil = 0
  let timer: NodeJS.Timeout | undefined

  function opensAt(): number {
    const oldest = begun.length < most ? undefined : begun[0]
    return Math.max(oldest === undefined ? 0 : oldest + windowMs, pausedUntil)
  }

  function next(): Waiting | undefined {
    const { urgent, background } = queues
    if (urgent.length > 0 && (inARow < MOST_IN_A_ROW || background.length === 0)) {
      inARow++
      return urgent.shift()
    }
    inARow = 0
    return background.shift()
  }

  function pump(): void {
    clearTimeout(timer)
    while (queues.urgent.length > 0 || queues.background.length > 0) {
      const now = performance.now()
      const opens = opensAt()
      if (opens > now) {
        timer = setTimeout(pump, Math.ceil(opens - now))
        return
      }
      begun.push(now)
      if (begun.length > most) begun.shift()
      next()?.go()
    }
  }

  return {
    /**
     * Resolves when a request may be sent. Rejects with the signal's reason where that is aborted
     * before.
     */
    turn(urgency: Priority, signal?: AbortSignal): Promise<void> {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason as Error)
          return
        }
        const leave = (): void => {
          queues[urgency] = queues[urgency].filter((one) => one !== waiting)
          reject(signal?.reason as Error)
        }
        const waiting: Waiting = {
          go() {
            signal?.removeEventListener('abort', leave)
            resolve()
          },
        }
        signal?.addEventListener('abort', leave, { once: true })
        queues[urgency].push(waiting)
        pump()
      })
    },
    /** Lets nothing pass for some time, ms. */
    pause(milliseconds: number): void {
      pausedUntil = Math.max(pausedUntil, performance.now() + milliseconds)
    },
    /** How long nothing passes yet, ms. */
    pausedFor: (): number => Math.max(0, pausedUntil - performance.now()),
  }
}
