import { closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { DatabaseError, getErrorCode, toDatabaseError } from './database.js'
import { createDamageError, inspectDatabase, isIntact } from './inspect-database.js'
import { openReadOnly } from './open-database.js'

const BUSY_TIMEOUT_MS = 5_000
/** Copies all pages in one step, because otherwise each write of the service restarts the copy. */
const ALL_PAGES = 2 ** 31 - 1

function flush(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

async function copy(path: string, target: string): Promise<void> {
  const db = openReadOnly(path)
  try {
    await db.backup(target, { progress: () => ALL_PAGES })
  } finally {
    db.close()
  }
}

/** Converts a copy of `path` to a single file without a journal; returns its number of orders. */
function finalize(copyPath: string, path: string): number {
  const db = new Database(copyPath)
  try {
    if (!isIntact(db)) throw createDamageError(path)
    db.pragma('journal_mode = DELETE')
    return db.prepare<[], number>('SELECT count(*) FROM orders').pluck().get() ?? 0
  } finally {
    db.close()
  }
}

/**
 * Copies an order database, even while it is in use, to a new file that only its owner can read.
 * Returns the number of orders. The file appears only once it is complete. Throws DatabaseError.
 */
export async function backupDatabase(path: string, target: string): Promise<number> {
  const temporaryPath = `${target}.${process.pid}.tmp`
  try {
    inspectDatabase(path, BUSY_TIMEOUT_MS)
    closeSync(openSync(temporaryPath, 'wx', 0o600))
    await copy(path, temporaryPath)
    const orders = finalize(temporaryPath, path)
    flush(temporaryPath)
    linkSync(temporaryPath, target)
    return orders
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') {
      throw new DatabaseError(`${target} already exists: name a new file.`, { cause: error })
    }
    throw toDatabaseError(getErrorCode(error).startsWith('SQLITE') ? path : target, error)
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      rmSync(temporaryPath + suffix, { force: true })
    }
  }
}
