import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { createDatabase } from './create-database.js'
import { DatabaseError, toDatabaseError } from './database-error.js'
import { inspectDatabase } from './inspect-database.js'
import { migrate } from './migrations.js'

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
    return db
  } catch (error) {
    db?.close()
    throw toDatabaseError(path, error)
  }
}

/** Opens an existing order database for reading. */
export const openReadOnly = (path: string): Database.Database => connect(path, { readonly: true })
