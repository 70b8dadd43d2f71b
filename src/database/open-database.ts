import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { createDirectory } from '../core/config/read-or-create-file.js'
import { FOLDING_VERSION } from '../core/formatting/text.js'
import { DatabaseError, getErrorCode, toDatabaseError } from './database.js'
import { inspectDatabase, isIntact } from './inspect-database.js'
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
function createDatabase(path: string): void {
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

export { DatabaseError }

/** How long opening waits for a lock that another process holds. */
const BUSY_TIMEOUT_MS = 5_000
const CACHE_KIB = 32 * 1024

function connect(path: string, options: Database.Options): Database.Database {
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true, ...options })
  db.pragma(`cache_size = -${CACHE_KIB}`)
  return db
}

function createIfMissing(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) createDatabase(path)
  else if (stats.size === 0) {
    throw new DatabaseError(
      `${path} is empty: restore it from a backup, or remove it to create a new order database.`,
    )
  }
}

/** Tables without which the service does not start. */
const ORDER_TABLES = [
  'orders',
  'order_totals',
  'changes',
  'search_texts',
  'order_events',
  'settings',
]

/**
 * Opens an order database for reading and writing; creates or migrates it if necessary. Committed
 * transactions survive a crash of the process and of the machine. Throws DatabaseError.
 */
export function openDatabase(path: string): Database.Database {
  let db
  try {
    createIfMissing(path)
    inspectDatabase(path, BUSY_TIMEOUT_MS)
    db = connect(path, {})
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('secure_delete = ON') // so that erased personal data does not stay in free space
    migrate(db)
    for (const table of ORDER_TABLES) db.prepare(`SELECT 1 FROM ${table}`)
    return db
  } catch (error) {
    db?.close()
    throw toDatabaseError(path, error)
  }
}

/** Opens an existing order database for reading. */
export const openReadOnly = (path: string): Database.Database => connect(path, { readonly: true })

/** Checks every page of a database file. */
export function isFileIntact(path: string): boolean {
  const db = openReadOnly(path)
  try {
    return isIntact(db)
  } finally {
    db.close()
  }
}
