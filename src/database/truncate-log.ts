import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'

const MAX_WAIT_MS = 5_000
const RETRY_MS = 50

/**
 * Empties the write-ahead log of a SQLite database, which can contain earlier versions of pages.
 * Returns `false` if the database is in use for too long; SQLite then overwrites the log later.
 */
export async function truncateLog(path: string): Promise<boolean> {
  const db = new Database(path, { timeout: 0, fileMustExist: true })
  try {
    const deadline = performance.now() + MAX_WAIT_MS
    for (;;) {
      const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
      if (result?.busy === 0) return true
      if (performance.now() > deadline) return false
      await sleep(RETRY_MS)
    }
  } finally {
    db.close()
  }
}
