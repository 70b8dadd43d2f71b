import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../http/problem.js'
import { startWorker } from '../start-worker.js'
import type { FileMonitor } from './file-monitor.js'

/** Looking through as much takes about a second; a start does not wait for more. */
export const MAX_BYTES_CHECKED_AT_START = 64 * 1024 * 1024

/** Writers wait this long for the outcome. */
const WRITERS_WAIT_MS = 5_000

export const isCheckedAtStart = (path: string, most: number): boolean => statSync(path).size <= most

/**
 * Looks through a large book in a thread while it is read from already. Nothing is written until
 * it has been found whole, as a damaged file is to stay as it is.
 */
export function startIntegrityCheck(path: string, condition: FileMonitor) {
  let isDone = false
  const worker = startWorker('database/integrity-worker', path)
  const ended = new Promise<void>((resolve) => {
    const end = (isWhole: boolean): void => {
      isDone = true
      if (!isWhole) condition.markDamaged()
      resolve()
    }
    worker.on('message', end)
    // A file that cannot be read at all says so where it is needed.
    worker.on('error', () => end(true))
  })

  return {
    /** Settles when the book may be written to; throws a Problem (503) where that takes long. */
    async whole(): Promise<void> {
      if (!isDone) await Promise.race([ended, sleep(WRITERS_WAIT_MS)])
      condition.check()
      if (!isDone) {
        throw new Problem(
          503,
          'The order book is being looked through for damage after the start, and takes no changes until then: try again in a minute.',
          { headers: { 'retry-after': '30' } },
        )
      }
    },
    async close(): Promise<void> {
      await worker.terminate()
    },
  }
}
