import { setTimeout as sleep } from 'node:timers/promises'
import { NocoDbError } from './nocodb-error.js'
import { notWritten } from './write-rejection.js'

/** How often it is looked up what became of a write that was not answered. */
const MOST_LOOKS = 4
const LOOK_AGAIN_MS = 250
/** No look begins later than this after the write: who waits for it does not wait much longer. */
const LOOKS_LAST_MS = 10_000

/**
 * Counts the looks at what became of a write. What it gives pauses before each one, save the
 * first where that is to come at once, and tells whether there is one more.
 */
export function createConfirmationAttempts({
  isFirstAtOnce,
}: {
  isFirstAtOnce: boolean
}): () => Promise<boolean> {
  const givesUp = performance.now() + LOOKS_LAST_MS
  let look = 0
  return async () => {
    if (look === MOST_LOOKS || performance.now() > givesUp) return false
    if (look++ > 0 || !isFirstAtOnce) await sleep(LOOK_AGAIN_MS * (0.5 + Math.random()))
    return true
  }
}

/** Whether a write may have been done though it failed. */
export const isIndeterminate = (error: unknown): error is NocoDbError =>
  error instanceof NocoDbError && error.mayBeDone

/** Does what comes before a write: where that fails, nothing has been changed. Throws WriteRefused. */
export async function beforeWrite<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof NocoDbError ? notWritten(error) : error
  }
}
