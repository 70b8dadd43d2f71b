/** Failures in a row after which nothing is sent for a while. */
const MOST_FAILURES = 5
const PAUSE_MS = 3_000

/** What the calls so far tell of the other side */
export type CircuitState = 'not asked yet' | 'answers' | 'does not answer'

export interface CircuitBreaker {
  state(): CircuitState
  /** Whether calls are refused at the moment without being sent */
  isOpen(): boolean
  /** Asks whether a call may be sent now. For each that may, one of the three below must be told. */
  admits(): boolean
  succeeded(): void
  failed(): void
  /** It ended without saying anything about the other side, which may have been well. */
  ended(): void
  /** Seconds until the next call may be sent, at least 1 */
  retryAfter(): number
}

/**
 * Spares callers the wait for something that does not answer: after some failures in a row calls
 * are refused for a few seconds, then one goes out to see whether it answers again.
 *
 * @param clock milliseconds, of any beginning
 */
export function createCircuitBreaker(clock = () => performance.now()): CircuitBreaker {
  let state: CircuitState = 'not asked yet'
  let failures = 0
  let pausedUntil = 0
  let isProbing = false
  const hasFailed = () => failures >= MOST_FAILURES

  return {
    state: () => state,
    isOpen: () => hasFailed() && (isProbing || clock() < pausedUntil),
    admits() {
      if (!hasFailed()) return true
      if (isProbing || clock() < pausedUntil) return false
      isProbing = true
      return true
    },
    succeeded() {
      state = 'answers'
      failures = 0
      isProbing = false
    },
    failed() {
      state = 'does not answer'
      failures++
      isProbing = false
      pausedUntil = clock() + PAUSE_MS
    },
    ended() {
      isProbing = false
    },
    retryAfter: () => Math.max(1, Math.ceil((pausedUntil - clock()) / 1000)),
  }
}
