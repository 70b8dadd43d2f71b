import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { toDatabaseError, DatabaseError } from './database-error.js'
import { createDatabase, removeTemporaryFiles } from './create-database.js'
import { inspectDatabase } from './inspect-database.js'
import { MAX_BYTES_CHECKED_AT_START, isCheckedAtStart } from './integrity-check.js'
import { migrate } from './migrations.js'

export { DatabaseError }

/** Writers of several processes take turns; opening waits for one this long. */
const OPENING_WAITS_MS = 5_000
const CACHE_KIB = 32 * 1024

function connect(path: string, options: Database.Options): Database.Database {
  const db = new Database(path, { timeout: OPENING_WAITS_MS, fileMustExist: true, ...options })
  db.pragma(`cache_size = -${CACHE_KIB}`)
  return db
}

/** Sees to it that there is a file, and that it has something in it. */
function provide(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) createDatabase(path)
  else if (stats.size === 0) {
    throw new DatabaseError(
      `${path} is empty, as no order book ever is: restore it from a back-up, or remove it to begin a new one.`,
    )
  }
}

/**
 * Opens the order book for reading and writing, and makes it where there is none. What has been
 * committed survives the end of the process and of the machine. A file of more bytes than are
 * checked at once is not looked through for damage. Throws DatabaseError.
 */
export function openDatabase(
  path: string,
  checkedAtOnce = MAX_BYTES_CHECKED_AT_START,
): Database.Database {
  let db
  try {
    provide(path)
    const isToBeRead = isCheckedAtStart(path, checkedAtOnce)
    inspectDatabase({ path, isToBeRead }, OPENING_WAITS_MS)
    removeTemporaryFiles(path)
    db = connect(path, {})
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    migrate(db)
    return db
  } catch (error) {
    db?.close()
    throw toDatabaseError(path, error)
  }
}

/** Opens an order book that is there already, for reading. */
export const openReadOnly = (path: string): Database.Database => connect(path, { readonly: true })
