import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database as Connection, Statement } from 'better-sqlite3'
import { Problem } from '../core/http/problem.js'
import {
  DatabaseUnavailableError,
  describeDatabaseError,
  getErrorCode,
  isBusy,
  isCorruption,
  type Database,
  type Queryable,
  type SqlValue,
} from './database.js'
import { startIntegrityCheck } from './inspect-database.js'
import { openDatabase, openReadOnly } from './open-database.js'

/**
 * Short, because SQLite blocks the event loop while it waits for a lock. Work that did not get the
 * lock is retried.
 */
const BUSY_TIMEOUT_MS = 20
const MAX_WAIT_MS = 5_000

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

const RESTORE = 'stop the service and restore it from a backup'

/** Opens the SQLite file of the service; creates or migrates it if necessary. Throws DatabaseError. */
export function openSqliteDatabase(path: string): Database {
  const connection: Connection = openDatabase(path)
  connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  const writer = createRunner(connection)
  const inSequence = createSequence()
  // A separate connection, so that reads do not wait for writes, which may wait for a lock.
  const readConnection = openReadOnly(path)
  const reader = createRunner(readConnection)
  const fileId = getFileId(path)
  let isDamaged = false
  let diskError: unknown = null

  function markDamaged(): void {
    isDamaged = true
  }
  const integrityCheck = startIntegrityCheck(path, markDamaged)

  const createDamageProblem = (): Problem =>
    new Problem(503, `The order database is damaged: ${RESTORE}.`)

  function check(): void {
    if (isDamaged) throw createDamageProblem()
    if (getFileId(path) === fileId) return
    // SQLite would keep writing to the removed file, and the changes would be lost.
    throw new Problem(
      503,
      `The order database was moved, removed or replaced while in use: put it back, or ${RESTORE}.`,
    )
  }

  function translateError(error: unknown): unknown {
    if (!isCorruption(error)) return error
    markDamaged()
    return createDamageProblem()
  }

  /** Retries while the database is locked. No transaction stays open between two tries. */
  async function retry<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + MAX_WAIT_MS
    for (;;) {
      check()
      try {
        return await work()
      } catch (error) {
        if (isDiskError(error) && !isCorruption(error)) diskError = error
        else if (!isBusy(error)) throw translateError(error)
        if (!isBusy(error) || performance.now() > deadline) {
          throw new DatabaseUnavailableError(
            `The database is not available: ${describeDatabaseError(error)}`,
            { cause: error, isTemporary: isBusy(error) },
          )
        }
      }
      await sleep(10 + Math.random() * 20)
    }
  }

  const write = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    inSequence(() =>
      retry(async () => {
        connection.exec('BEGIN IMMEDIATE')
        try {
          const result = await work(writer)
          connection.exec('COMMIT')
          diskError = null
          return result
        } catch (error) {
          if (connection.inTransaction) connection.exec('ROLLBACK')
          throw error
        }
      }),
    )

  /** Why the last write failed; `null` if it succeeded, or if a test write succeeds now. */
  function describeWriteError(): string | null {
    if (diskError === null) return null
    try {
      connection.exec(TEST_WRITE)
      diskError = null
      return null
    } catch (error) {
      return describeDatabaseError(isBusy(error) ? diskError : error)
    }
  }

  return {
    engine: 'sqlite',
    async query(sql, values) {
      const isReadOnly = await retry(async () => writer.isReadOnly(sql))
      return isReadOnly
        ? retry(() => reader.query(sql, values))
        : inSequence(() => retry(() => writer.query(sql, values)))
    },
    read: (work) => retry(() => work(reader)),
    readSnapshot: (work) =>
      retry(async () => {
        const snapshot = openReadOnly(path)
        try {
          snapshot.exec('BEGIN')
          return await work(createRunner(snapshot))
        } finally {
          snapshot.close()
        }
      }),
    write,
    migrate: write,
    check,
    translateError,
    async getReadiness() {
      await retry(() => reader.query('SELECT count(*) FROM settings'))
      const writeError = describeWriteError()
      return writeError === null
        ? { ready: true, detail: 'the order database is readable' }
        : { ready: false, detail: `the order database cannot be written to: ${writeError}` }
    },
    async close() {
      await integrityCheck?.terminate()
      await inSequence(async () => {
        readConnection.close()
        connection.close()
      })
    },
  }
}

/** Runs jobs one after the other. */
export function createSequence() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(job: () => Promise<T>): Promise<T> => {
    const result = last.then(job, job)
    last = result.catch(() => undefined)
    return result
  }
}

/** Limits the memory for statements, because a query with a list has a text for each length. */
const MAX_STATEMENTS = 500

/** Runs statements on a connection; prepares each statement once. */
function createRunner(connection: Connection) {
  const statements = new Map<string, Statement>()

  function prepare(sql: string): Statement {
    const known = statements.get(sql)
    if (known !== undefined) return known
    if (statements.size >= MAX_STATEMENTS) statements.clear()
    const statement = connection.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  return {
    isReadOnly: (sql: string): boolean => prepare(sql).readonly,
    async query<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
      const statement = prepare(sql)
      const parameters = values.map((value) => (typeof value === 'boolean' ? Number(value) : value))
      if (statement.reader) return statement.all(...parameters) as Row[]
      statement.run(...parameters)
      return []
    },
  }
}
