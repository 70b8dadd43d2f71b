import { existsSync, linkSync, renameSync, rmSync, statSync, closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { createDirectory } from '../core/config/create-directory.js'
import { FOLDING_VERSION } from '../core/formatting/fold-text.js'
import { DatabaseError, getErrorCode } from './database-error.js'
import { migrate } from './migrations.js'

/** SQLite would apply a journal of the lost database to the new one. */
function rejectLeftJournal(path: string): void {
  for (const journal of [`${path}-wal`, `${path}-journal`]) {
    const size = statSync(journal, { throwIfNoEntry: false })?.size ?? 0
    // If the database exists by now, another process has created it and its journal.
    if (size === 0 || existsSync(path)) continue
    throw new DatabaseError(
      `${path} is missing, but its journal ${journal} exists: restore the database, or move the journal away to create a new one.`,
    )
  }
}

function writeDatabase(path: string): void {
  closeSync(openSync(path, 'wx', 0o600))
  const db = new Database(path, { fileMustExist: true })
  try {
    db.pragma('journal_mode = WAL')
    migrate(db)
    db.prepare("INSERT INTO settings VALUES ('folding', ?)").run(FOLDING_VERSION)
  } finally {
    db.close()
  }
}

/**
 * Creates an order database atomically: a crash leaves no incomplete database, and other processes
 * never see one. If another process is faster, its database is kept.
 */
export function createDatabase(path: string): void {
  createDirectory(dirname(path))
  rejectLeftJournal(path)
  const temporaryPath = `${path}.${process.pid}.tmp`
  const removeTemporaryFiles = (): void => {
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      rmSync(temporaryPath + suffix, { force: true })
    }
  }
  removeTemporaryFiles() // of a crashed process with the same ID
  try {
    writeDatabase(temporaryPath)
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
    removeTemporaryFiles()
  }
}
