import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { DatabaseError, isCorruption } from './database-error.js'
import { APPLICATION_ID, SCHEMA_VERSION, getSchemaVersion, migrate } from './migrations.js'

const damaged = (path: string): DatabaseError =>
  new DatabaseError(
    `${path} is damaged: restore it from a back-up, together with its -wal file. It was left as it is.`,
  )

/** What a file is made of: its tables, their columns and indexes, by name. */
function partsOf(db: Database.Database): string[] {
  const parts = db.prepare<[], string>(
    `SELECT type || ' ' || name FROM sqlite_schema
     UNION ALL
     SELECT 'column ' || sqlite_schema.name || '.' || columns.name
     FROM sqlite_schema, pragma_table_xinfo(sqlite_schema.name) AS columns
     WHERE sqlite_schema.type = 'table'`,
  )
  return parts.pluck().all()
}

/** The first part that a book of a layout has and this one lacks. */
function missingPart(db: Database.Database, layout: number): string | undefined {
  const whole = new Database(':memory:')
  migrate(whole, layout)
  const found = new Set(partsOf(db))
  const missing = partsOf(whole).find((part) => !found.has(part))
  whole.close()
  return missing
}

/** Whether each page of a file is as SQLite left it; takes time in proportion to its size. */
export function isComplete(db: Database.Database): boolean {
  try {
    return db.pragma('quick_check(1)', { simple: true }) === 'ok'
  } catch (error) {
    if (isCorruption(error)) return false
    throw error
  }
}

function check(db: Database.Database, { path, isToBeRead }: Inspected): void {
  const layout = getSchemaVersion(db)
  const id = db.pragma('application_id', { simple: true })
  if (id !== APPLICATION_ID) {
    throw new DatabaseError(
      `${path} is not an order book of Clearwake: move it away, or set another DATA_DIR.`,
    )
  }
  if (layout > SCHEMA_VERSION) {
    throw new DatabaseError(
      `${path} was written by a newer Clearwake (layout ${layout}, this one knows ${SCHEMA_VERSION}): run that version. The file was left as it is.`,
    )
  }
  // Nor is a damaged file brought to another layout.
  if ((isToBeRead || layout < SCHEMA_VERSION) && !isComplete(db)) throw damaged(path)
  const missing = missingPart(db, layout)
  if (missing !== undefined) {
    throw new DatabaseError(
      `${path} lacks a part (${missing}): restore it from a back-up. It was left as it is.`,
    )
  }
}

interface Inspected {
  path: string
  /** Every page of it, now */
  isToBeRead: boolean
}

/**
 * Looks at a file and throws a DatabaseError where it is no order book that this version can use.
 * Nothing is written to the file then, and nothing new is left beside it.
 */
export function inspectDatabase({ path, isToBeRead }: Inspected, waitMs: number): void {
  const stoodAlone = !existsSync(`${path}-wal`) && !existsSync(`${path}-shm`)
  let db
  try {
    db = new Database(path, { readonly: true, timeout: waitMs })
    check(db, { path, isToBeRead })
  } catch (error) {
    db?.close()
    if (stoodAlone) removeCompanions(path)
    throw isCorruption(error) ? damaged(path) : error
  } finally {
    db?.close()
  }
}

/**
 * Has SQLite remove the empty journal that it made for reading. It does so for the last one who
 * may write and closes, and no sooner: another process may have begun to use the file.
 */
function removeCompanions(path: string): void {
  if (!existsSync(`${path}-wal`)) return
  try {
    const db = new Database(path, { fileMustExist: true })
    try {
      db.pragma('schema_version')
    } finally {
      db.close()
    }
  } catch {
    // The refusal tells what is wrong already.
  }
}
