import { setTimeout as sleep } from 'node:timers/promises'
import { NocoDbError } from './nocodb-error.js'
import { notWritten } from './write-rejection.js'

const MAX_ATTEMPTS = 4
const ATTEMPT_DELAY_MS = 250
/** After this time, no further attempt is made, because the user is waiting. */
const MAX_CONFIRMATION_MS = 10_000

/**
 * Limits the attempts to confirm a write. Call the returned function before each attempt. It waits,
 * and returns whether another attempt is allowed.
 */
export function createConfirmationAttempts({ isFirstDelayed }: { isFirstDelayed: boolean }) {
  const deadline = performance.now() + MAX_CONFIRMATION_MS
  let attempts = 0
  return async (): Promise<boolean> => {
    if (attempts === MAX_ATTEMPTS || performance.now() > deadline) return false
    if (attempts++ > 0 || isFirstDelayed) await sleep(ATTEMPT_DELAY_MS * (0.5 + Math.random()))
    return true
  }
}

/** Whether a write that failed may have been executed. */
export const isIndeterminate = (error: unknown): boolean =>
  error instanceof NocoDbError && error.isIndeterminate

/** The error to throw if a request failed and nothing was written. */
export const toNotWritten = (error: unknown): unknown =>
  error instanceof NocoDbError ? notWritten(error) : error
