import Database from 'better-sqlite3'
import { DatabaseError, isCorruption } from './database-error.js'
import { isCheckedByOpening, isIntact } from './integrity-check.js'
import { APPLICATION_ID, getSchemaVersion, SCHEMA_VERSION } from './sqlite-migrations.js'

export const createDamageError = (path: string): DatabaseError =>
  new DatabaseError(`${path} is damaged: restore it from a backup. The file was not changed.`)

function check(db: Database.Database, path: string): void {
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new DatabaseError(
      `${path} is not a Clearwake order database: move it away, or set another DATA_DIR.`,
    )
  }
  const version = getSchemaVersion(db)
  if (version > SCHEMA_VERSION) {
    throw new DatabaseError(
      `${path} was written by a newer version of Clearwake (schema version ${version}, supported ${SCHEMA_VERSION}): run that version. The file was not changed.`,
    )
  }
  // A damaged file is never migrated.
  if ((isCheckedByOpening(path) || version < SCHEMA_VERSION) && !isIntact(db)) {
    throw createDamageError(path)
  }
}

/**
 * Checks that a file is an order database of a supported version. If the file is small or has to be
 * migrated, also checks that it is intact. Does not change its content. Throws a DatabaseError or a
 * SQLite error.
 */
export function inspectDatabase(path: string, busyTimeoutMs: number): void {
  let db
  try {
    db = new Database(path, { fileMustExist: true, timeout: busyTimeoutMs })
    check(db, path)
  } catch (error) {
    throw isCorruption(error) ? createDamageError(path) : error
  } finally {
    db?.close()
  }
}
