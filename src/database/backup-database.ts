import { closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { toDatabaseError, DatabaseError, getErrorCode } from './database-error.js'
import { inspectDatabase } from './inspect-database.js'
import { openReadOnly } from './open-database.js'

const WAITS_MS = 5_000
/** More pages than there are: all in one step, or each write of the service would begin it anew. */
const ALL_PAGES = 2 ** 31 - 1

function flush(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

/** The copy as one file, without a journal beside it, found whole; how many orders it has. */
function finished(draft: string): number {
  const db = new Database(draft)
  try {
    db.pragma('journal_mode = DELETE')
    const orders = db.prepare<[], number>('SELECT count(*) FROM orders').pluck().get()
    return orders ?? 0
  } finally {
    db.close()
  }
}

async function copy(path: string, draft: string): Promise<void> {
  const db = openReadOnly(path)
  try {
    await db.backup(draft, { progress: () => ALL_PAGES })
  } finally {
    db.close()
  }
}

/**
 * Copies an order book as it is at one moment, also while others write to it, into a new file that
 * only this user may read; how many orders it has. The file is there when it is whole. Throws
 * DatabaseError where the book or the new file does not do.
 */
export async function backupDatabase(path: string, target: string): Promise<number> {
  const draft = `${target}.draft-${process.pid}`
  try {
    inspectDatabase({ path, isToBeRead: true }, WAITS_MS)
    closeSync(openSync(draft, 'wx', 0o600))
    await copy(path, draft)
    const orders = finished(draft)
    inspectDatabase({ path: draft, isToBeRead: true }, WAITS_MS)
    flush(draft)
    linkSync(draft, target)
    return orders
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') {
      throw new DatabaseError(`${target} is there already: name a new file.`, { cause: error })
    }
    throw toDatabaseError(getErrorCode(error).startsWith('SQLITE') ? path : target, error)
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(draft + end, { force: true })
  }
}
