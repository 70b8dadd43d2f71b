import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import {
  describeDatabaseError,
  getErrorCode,
  isBusy,
  isCorruption,
  toDatabaseError,
} from '../../../database/database-error.js'
import { startIntegrityCheck } from '../../../database/integrity-check.js'
import { openDatabase, openReadOnly } from '../../../database/open-database.js'
import { Problem } from '../../../core/http/problem.js'
import { StoreUnwritableError } from '../order-store.js'
import { foldSearchTexts } from './fold-search-texts.js'
import { createTimeZoneCheck, setTimeZone } from './settings.js'

export interface DatabaseOptions {
  /** Created if it does not exist */
  path: string
  timeZone: string
  /** What an operator should do if the database is damaged, for error messages */
  remedy?: string
  /** Called whenever damage, or a missing or replaced file, is detected */
  onDamage?: () => void
}

const RESTORE = 'stop the service and restore it from a backup'

/**
 * How long SQLite waits for a lock. Waiting blocks the event loop, so writers then retry
 * asynchronously.
 */
const BUSY_TIMEOUT_MS = 20
const MAX_WRITE_WAIT_MS = 5_000

const isDiskError = (error: unknown): boolean =>
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(getErrorCode(error))

/** Writes as much data as a large order takes, then deletes it. */
const TEST_WRITE = `
  INSERT OR REPLACE INTO settings VALUES ('trial', hex(zeroblob(32768)));
  DELETE FROM settings WHERE name = 'trial';`

/** Identifies the file at a path; `null` if it is missing or inaccessible. */
function getFileId(path: string): string | null {
  try {
    const { dev, ino } = statSync(path)
    return `${dev}:${ino}`
  } catch {
    return null
  }
}

function openWriter({ path, timeZone }: DatabaseOptions) {
  const db = openDatabase(path)
  try {
    const calendar = setTimeZone(db, timeZone)
    foldSearchTexts(db)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return { db, calendar }
  } catch (error) {
    db.close()
    throw toDatabaseError(path, error)
  }
}

/**
 * Opens an order database with one connection for reading and one for writing. Throws
 * DatabaseError. Transactions throw a Problem (503) once damage has been detected, while the file
 * is missing or replaced, and while another process uses the database with another time zone.
 */
export function openTransactions(options: DatabaseOptions) {
  const { path, timeZone, remedy = RESTORE, onDamage = () => undefined } = options
  const { db: writer, calendar } = openWriter(options)
  const reader = openReadOnly(path)
  const checkTimeZone = {
    read: createTimeZoneCheck(reader, timeZone),
    write: createTimeZoneCheck(writer, timeZone),
  }
  const fileId = getFileId(path)
  let isDamaged = false
  let diskError: unknown = null

  const createDamageProblem = (): Problem =>
    new Problem(503, `The order database is damaged: ${remedy}.`)

  function markDamaged(): void {
    isDamaged = true
    onDamage()
  }

  const integrityCheck = startIntegrityCheck(path, markDamaged)

  function check(): void {
    if (isDamaged) throw createDamageProblem()
    if (getFileId(path) === fileId) return
    // SQLite would keep writing to the removed file, and the changes would be lost.
    onDamage()
    throw new Problem(
      503,
      `The order database was moved, removed or replaced while in use: put it back, or ${remedy}.`,
    )
  }

  function translateError(error: unknown): unknown {
    if (!isCorruption(error)) return error
    markDamaged()
    return createDamageProblem()
  }

  function run<T>(transaction: () => T): T {
    try {
      return transaction()
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Runs `work` on the reader, with a consistent snapshot. */
  function read<T>(work: () => T): T {
    check()
    const transaction = reader.transaction(() => {
      checkTimeZone.read()
      return work()
    })
    return run(transaction)
  }

  /** Runs `work` on a connection of its own, which sees one snapshot however long `work` takes. */
  async function readSnapshot<T>(work: (db: Database) => Promise<T>): Promise<T> {
    check()
    const db = openReadOnly(path)
    try {
      db.exec('BEGIN')
      createTimeZoneCheck(db, timeZone)()
      return await work(db)
    } catch (error) {
      throw translateError(error)
    } finally {
      db.close()
    }
  }

  /**
   * Runs `work` on the writer; retries while the database is locked. Throws StoreUnwritableError.
   */
  async function write<T>(work: () => T): Promise<T> {
    const transaction = writer.transaction(() => {
      checkTimeZone.write()
      return work()
    })
    const deadline = performance.now() + MAX_WRITE_WAIT_MS
    for (;;) {
      check()
      try {
        const result = run(() => transaction.immediate())
        diskError = null
        return result
      } catch (error) {
        if (isDiskError(error)) {
          diskError = error
          throw new StoreUnwritableError(error, false)
        }
        if (!isBusy(error)) throw error
        if (performance.now() > deadline) throw new StoreUnwritableError(error, true)
      }
      await sleep(10 + Math.random() * 20)
    }
  }

  return {
    calendar,
    reader,
    writer,
    read,
    readSnapshot,
    write,
    check,
    /** Records damage; returns the error to throw. */
    translateError,

    /**
     * Describes why the last write failed; `null` if it succeeded, or if a test write succeeds now.
     */
    describeWriteError(): string | null {
      if (diskError === null) return null
      try {
        writer.exec(TEST_WRITE)
        diskError = null
        return null
      } catch (error) {
        return describeDatabaseError(isBusy(error) ? diskError : error)
      }
    },

    async close(): Promise<void> {
      await integrityCheck?.close()
      reader.close()
      writer.close()
    },
  }
}
