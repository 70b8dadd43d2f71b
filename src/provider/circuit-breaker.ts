/** Number of consecutive failures that opens the circuit. */
const MAX_FAILURES = 5
const OPEN_MS = 3_000

/** State of the provider according to the requests so far. */
type ProviderState = 'no requests yet' | 'reachable' | 'unreachable'

/**
 * Rejects requests for a while after consecutive failures; then allows one probe at a time. Every
 * allowed request must report its result: `succeeded`, `failed`, or `release` if the result does
 * not depend on the provider.
 */
export function createCircuitBreaker() {
  let state: ProviderState = 'no requests yet'
  let failures = 0
  let openUntil = 0
  let isProbing = false

  return {
    state: () => state,
    allowRequest(): boolean {
      if (failures < MAX_FAILURES) return true
      if (isProbing || performance.now() < openUntil) return false
      isProbing = true
      return true
    },
    succeeded(): void {
      state = 'reachable'
      failures = 0
      isProbing = false
    },
    failed(): void {
      state = 'unreachable'
      failures++
      isProbing = false
      openUntil = performance.now() + OPEN_MS
    },
    release(): void {
      isProbing = false
    },
    /** Seconds until the next request is allowed, at least 1 */
    retryAfter: () => Math.max(1, Math.ceil((openUntil - performance.now()) / 1000)),
  }
}

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>
