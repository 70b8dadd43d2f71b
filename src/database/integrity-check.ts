import { statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { startWorker } from './start-worker.js'
import { isCorruption } from './database-error.js'

/** Checking this much takes about a second. Larger databases are checked by a worker. */
const MAX_BYTES_CHECKED_BY_OPENING = 64 * 1024 * 1024

export const isCheckedByOpening = (path: string): boolean =>
  statSync(path).size <= MAX_BYTES_CHECKED_BY_OPENING

/** Checks every page of a database. */
export function isIntact(db: Database): boolean {
  try {
    return db.pragma('quick_check(1)', { simple: true }) === 'ok'
  } catch (error) {
    if (isCorruption(error)) return false
    throw error
  }
}

/** Checks a large database in a worker; `null` for a small one, which was checked when opened. */
export function startIntegrityCheck(path: string, onDamage: () => void) {
  if (isCheckedByOpening(path)) return null
  const worker = startWorker('database/integrity-worker', path)
  worker.unref()
  worker.on('message', (intact: boolean) => {
    if (!intact) onDamage()
  })
  // A database that cannot be read at all is reported by the next request.
  worker.on('error', () => undefined)
  return {
    async close(): Promise<void> {
      await worker.terminate()
    },
  }
}
