import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { DatabaseError, openDatabase } from '../../database/open-database.js'
import { createReplicaSettings } from './replica-settings.js'
import { isBusy } from '../../database/database-error.js'

/** What is known of a copy. */
export interface ReplicaState {
  /** Whether all orders have been taken into it once */
  isLoaded: boolean
  /** It shows what was in NocoDB at this moment, ISO 8601 */
  asOf: string | null
}

export interface ReplicaFile {
  path: string
  /** How the copy in it stood when it was taken */
  state: ReplicaState
  /** Throws the copy away for an empty one; nobody may have it open */
  makeAnew: () => ReplicaState
  /** Lets another process have it */
  release: () => void
}

/** Processes on one data folder; each has a copy of its own. */
const MOST_PROCESSES = 64

/** A lock that ends with the process, however that ends; `null` where another process has it. */
function lock(path: string): Database.Database | null {
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

/** What is known of the copy in a file; `null` where it is none of this source. */
function copyOf(source: string, path: string): ReplicaState | null {
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

function makeAnew(source: string, path: string): ReplicaState {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
  const db = openDatabase(path)
  createReplicaSettings(db).set('source', source)
  db.close()
  return { isLoaded: false, asOf: null }
}

/**
 * The file for a process's copy of the orders, held against other processes. A copy of another
 * source, and one that is damaged, is thrown away: all of it is in NocoDB. Throws DatabaseError.
 */
export function acquireReplicaFile(dataDir: string, source: string): ReplicaFile {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  for (let number = 1; number <= MOST_PROCESSES; number++) {
    const path = join(dataDir, number === 1 ? 'replica.db' : `replica-${number}.db`)
    const held = lock(`${path}.lock`)
    if (held === null) continue
    return {
      path,
      state: copyOf(source, path) ?? makeAnew(source, path),
      makeAnew: () => makeAnew(source, path),
      release: () => void held.close(),
    }
  }
  throw new DatabaseError(
    `${dataDir} is in use by ${MOST_PROCESSES} processes: set another DATA_DIR.`,
  )
}
