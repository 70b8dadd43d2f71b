import { setTimeout as sleep } from 'node:timers/promises'
import { NocoDbError } from './nocodb-error.js'
import { nothingChanged } from './write-refusal.js'

/** How often it is looked up what became of a write that was not answered. */
export const MOST_LOOKS = 4
const LOOK_AGAIN_MS = 250

/** The pause between two looks. */
export const aMoment = (): Promise<void> => sleep(LOOK_AGAIN_MS * (0.5 + Math.random()))

/** Whether a write may have been done though it failed. */
export const mayBeDone = (error: unknown): error is NocoDbError =>
  error instanceof NocoDbError && error.mayBeDone

/** Does what comes before a write: where that fails, nothing has been changed. Throws WriteRefused. */
export async function beforeWriting<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof NocoDbError ? nothingChanged(error) : error
  }
}
