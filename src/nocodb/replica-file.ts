import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createDirectory } from '../core/config/create-directory.js'
import { isBusy } from '../database/database-error.js'
import { DatabaseError, openDatabase } from '../database/open-database.js'

export type ReplicaSetting =
  /** Id of the table that the replica was made from */
  | 'source'
  /** The highest id that the first load has read so far */
  | 'loaded_to'
  /** Set when the first load is finished */
  | 'loaded'
  /** When a row was last modified, by the clock of NocoDB's database, ms since 1970 */
  | 'touched'
  /** `yes` if the schema has been invalid at any time since all rows were last read */
  | 'misfit'
  /** The replica has all changes up to this time, ISO 8601 */
  | 'as_of'

export function createReplicaSettings(db: Database.Database) {
  db.exec(
    `CREATE TABLE IF NOT EXISTS replica (
       name TEXT PRIMARY KEY, value TEXT NOT NULL
     ) STRICT, WITHOUT ROWID`,
  )
  const get = db.prepare<[string], string>('SELECT value FROM replica WHERE name = ?').pluck()
  const set = db.prepare<[string, string]>('INSERT OR REPLACE INTO replica VALUES (?, ?)')
  return {
    get: (name: ReplicaSetting): string | null => get.get(name) ?? null,
    set: (name: ReplicaSetting, value: string): void => void set.run(name, value),
  }
}

export interface ReplicaState {
  /** Whether the first load is finished */
  isLoaded: boolean
  /** The replica has all changes up to this time, ISO 8601 */
  asOf: string | null
}

export interface ReplicaFile {
  path: string
  /** State of the existing replica */
  state: ReplicaState
  /** Replaces the replica with an empty one; the old replica must be closed */
  recreate: () => ReplicaState
  /** Unlocks the file for other processes */
  release: () => void
}

/** Maximum number of processes that share a data folder. Each has its own replica. */
const MAX_PROCESSES = 64

/** Acquires a lock that is released when the process exits; `null` if another process holds it. */
function acquireLock(path: string): Database.Database | null {
  const db = new Database(path, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db.close()
    if (isBusy(error)) return null
    throw error
  }
}

/** Reads the state of a replica; `null` if it is unusable or was made from another table. */
function readState(source: string, path: string): ReplicaState | null {
  let db
  try {
    db = openDatabase(path)
    const settings = createReplicaSettings(db)
    if (settings.get('source') !== source) return null
    return { isLoaded: settings.get('loaded') !== null, asOf: settings.get('as_of') }
  } catch (error) {
    if (error instanceof DatabaseError) return null
    throw error
  } finally {
    db?.close()
  }
}

function recreate(source: string, path: string): ReplicaState {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
  const db = openDatabase(path)
  createReplicaSettings(db).set('source', source)
  db.close()
  return { isLoaded: false, asOf: null }
}

/**
 * Locks a replica file for this process. A replica that is unusable or was made from another table
 * is recreated, because NocoDB has all orders. Throws DatabaseError.
 */
export function acquireReplicaFile(dataDir: string, source: string): ReplicaFile {
  createDirectory(dataDir)
  for (let number = 1; number <= MAX_PROCESSES; number++) {
    const path = join(dataDir, number === 1 ? 'replica.db' : `replica-${number}.db`)
    const lock = acquireLock(`${path}.lock`)
    if (lock === null) continue
    return {
      path,
      state: readState(source, path) ?? recreate(source, path),
      recreate: () => recreate(source, path),
      release: () => void lock.close(),
    }
  }
  throw new DatabaseError(
    `${dataDir} is used by ${MAX_PROCESSES} processes. Set another DATA_DIR for this process.`,
  )
}
