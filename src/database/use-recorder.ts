import type { Database } from './database.js'

interface Options {
  /** Statement with the time and the ID as parameters */
  sql: string
  /** Recording every use would require a write on every request. */
  precisionMs: number
}

/**
 * Returns a function that records when something was last used, at most once per `precisionMs`. Do
 * not wait for it, because a write takes long while the database is locked. Throws
 * DatabaseUnavailableError.
 */
export function createUseRecorder(database: Database, { sql, precisionMs }: Options) {
  /** IDs whose last use is being written */
  const writing = new Set<string>()

  /** @param lastUsedAt the last recorded use, ms since 1970 */
  return async (id: string, lastUsedAt: number): Promise<void> => {
    const now = Date.now()
    // The last use is in the future if the clock was set back.
    if (Math.abs(now - lastUsedAt) < precisionMs || writing.has(id)) return
    writing.add(id)
    try {
      await database.query(sql, [now, id])
    } finally {
      writing.delete(id)
    }
  }
}
