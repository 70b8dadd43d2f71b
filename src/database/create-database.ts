import {
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { DatabaseError, getErrorCode } from './database-error.js'
import { migrate } from './migrations.js'

/** SQLite would apply a journal of the lost database to the new one. */
function rejectLeftJournal(path: string): void {
  for (const journal of [`${path}-wal`, `${path}-journal`]) {
    const size = statSync(journal, { throwIfNoEntry: false })?.size ?? 0
    // A database that exists by now was created by another process; so was its journal.
    if (size === 0 || existsSync(path)) continue
    throw new DatabaseError(
      `${path} is missing, but its journal ${journal} exists: restore the database, or move the journal away to create a new one.`,
    )
  }
}

/**
 * Creates an order database atomically, so that neither a crash nor another process can leave or see
 * an incomplete one. If another process is faster, its database is kept.
 */
export function createDatabase(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rejectLeftJournal(path)
  const db = new Database(':memory:')
  migrate(db)
  const content = db.serialize()
  db.close()
  const temporaryPath = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(temporaryPath, content, { mode: 0o600, flush: true })
    try {
      linkSync(temporaryPath, path)
    } catch (error) {
      // Some file systems, such as FAT, have no hard links.
      if (!/^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS)$/.test(getErrorCode(error))) throw error
      if (!existsSync(path)) renameSync(temporaryPath, path)
    }
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    rmSync(temporaryPath, { force: true })
  }
}
