import { statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { DatabaseError, isCorruption } from './database.js'
import { APPLICATION_ID, getSchemaVersion, SCHEMA_VERSION } from './migrations.js'
import { startFunction } from './start-worker.js'

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

/** Checking this much takes about a second. Larger databases are checked by a worker. */
const MAX_BYTES_CHECKED_BY_OPENING = 64 * 1024 * 1024

const isCheckedByOpening = (path: string): boolean =>
  statSync(path).size <= MAX_BYTES_CHECKED_BY_OPENING

/** Checks every page of a database. */
export function isIntact(db: Database.Database): boolean {
  try {
    return db.pragma('quick_check(1)', { simple: true }) === 'ok'
  } catch (error) {
    if (isCorruption(error)) return false
    throw error
  }
}

/** Checks a large database in a worker; `null` for a small one, which was checked when opened. */
export function startIntegrityCheck(path: string, onDamage: () => void): Worker | null {
  if (isCheckedByOpening(path)) return null
  const worker = startFunction('database/open-database', 'isFileIntact', path)
  worker.unref()
  worker.on('message', (intact: boolean) => {
    if (!intact) onDamage()
  })
  // A database that cannot be read at all is reported by the next request.
  worker.on('error', () => undefined)
  return worker
}
