import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { APPLICATION_ID, LAYOUT, layoutOf, migrate } from './migrations.js'

/** The order book cannot be used; `message` says to the operator why, and what to do. */
export class BookError extends Error {
  override readonly name = 'BookError'
}

/** Writers of several processes take turns; opening waits for one this long. */
const OPENING_WAITS_MS = 5_000
const CACHE_KIB = 32 * 1024

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))

/** Whether there is a file yet. */
function isNew(path: string): boolean {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 }
  return size === 0
}

/** Looks at a file without writing to it or to anything beside it; throws BookError. */
function inspect(path: string): void {
  let db
  try {
    db = new Database(path, { readonly: true, timeout: OPENING_WAITS_MS })
    const layout = layoutOf(db)
    const id = db.pragma('application_id', { simple: true })
    if (id !== APPLICATION_ID) {
      throw new BookError(
        `${path} is not an order book of Clearwake: move it away, or set another DATA_DIR.`,
      )
    }
    if (layout > LAYOUT) {
      throw new BookError(
        `${path} was written by a newer Clearwake (layout ${layout}, this one knows ${LAYOUT}): run that version. The file was left as it is.`,
      )
    }
    const faults = db.pragma('quick_check(1)', { simple: true })
    if (faults !== 'ok') throw damaged(path)
  } catch (error) {
    throw isDamage(error) ? damaged(path) : error
  } finally {
    db?.close()
  }
}

const damaged = (path: string): BookError =>
  new BookError(
    `${path} is damaged: restore it from a back-up, together with its -wal file. It was left as it is.`,
  )

/** A file that only its owner may read; SQLite gives its companions the same mode. */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
}

function connect(path: string, options: Database.Options): Database.Database {
  const db = new Database(path, { timeout: OPENING_WAITS_MS, ...options })
  db.pragma(`cache_size = -${CACHE_KIB}`)
  return db
}

/**
 * Opens the order book for reading and writing, and makes it where there is none. What has been
 * committed survives the end of the process and of the machine. Throws BookError.
 */
export function openDatabase(path: string): Database.Database {
  try {
    if (isNew(path)) createPrivately(path)
    else inspect(path)
    const db = connect(path, {})
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    migrate(db)
    return db
  } catch (error) {
    if (error instanceof BookError) throw error
    throw new BookError(`${path} cannot be opened (${codeOf(error) || 'unknown reason'}).`)
  }
}

/** Opens an order book that is there already, for reading. */
export const openForReading = (path: string): Database.Database => connect(path, { readonly: true })
