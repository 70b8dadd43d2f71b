import { setTimeout as sleep } from 'node:timers/promises'
import type { Database as Connection, Statement } from 'better-sqlite3'
import { DatabaseUnavailableError, type Database, type SqlValue } from './database.js'
import { describeDatabaseError, isBusy, isCorruption, getErrorCode } from './database-error.js'
import { openDatabase, openReadOnly } from './open-database.js'

/**
 * Short, because SQLite blocks the event loop while it waits for a lock. Work that did not get the
 * lock is retried.
 */
const BUSY_TIMEOUT_MS = 20
const MAX_WAIT_MS = 5_000

const isUnavailable = (error: unknown): boolean =>
  isBusy(error) ||
  isCorruption(error) ||
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(getErrorCode(error))

/** Runs jobs one after the other. */
function createSequence() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(job: () => Promise<T>): Promise<T> => {
    const result = last.then(job, job)
    last = result.catch(() => undefined)
    return result
  }
}

/** Runs statements on a connection; prepares each statement once. */
function createRunner(connection: Connection) {
  const statements = new Map<string, Statement>()

  function prepare(sql: string): Statement {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = connection.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }

  function run<Row>(sql: string, values: readonly SqlValue[] = []): Row[] {
    const statement = prepare(sql)
    const parameters = values.map((value) => (typeof value === 'boolean' ? Number(value) : value))
    if (statement.reader) return statement.all(...parameters) as Row[]
    statement.run(...parameters)
    return []
  }

  return { run, isReadOnly: (sql: string): boolean => prepare(sql).readonly }
}

/** Opens the SQLite file of the service; creates or migrates it if necessary. Throws DatabaseError. */
export function openSqliteDatabase(path: string): Database {
  const connection: Connection = openDatabase(path)
  connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  const { run, isReadOnly } = createRunner(connection)
  const inSequence = createSequence()
  // A separate connection, so that reads do not wait for writes, which may wait for a lock.
  const reader = openReadOnly(path)
  const { run: read } = createRunner(reader)

  /** Retries while the database is locked. No transaction stays open between two tries. */
  async function retry<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + MAX_WAIT_MS
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!isUnavailable(error)) throw error
        if (!isBusy(error) || performance.now() > deadline) {
          throw new DatabaseUnavailableError(
            `The database is not available: ${describeDatabaseError(error)}`,
            { cause: error, isDamaged: isCorruption(error) },
          )
        }
      }
      await sleep(10 + Math.random() * 20)
    }
  }

  return {
    query: async (sql, values) =>
      isReadOnly(sql)
        ? retry(async () => read(sql, values))
        : inSequence(() => retry(async () => run(sql, values))),
    write: (work) =>
      inSequence(() =>
        retry(async () => {
          connection.exec('BEGIN IMMEDIATE')
          try {
            const result = await work({ query: async (sql, values) => run(sql, values) })
            connection.exec('COMMIT')
            return result
          } catch (error) {
            if (connection.inTransaction) connection.exec('ROLLBACK')
            throw error
          }
        }),
      ),
    close: () =>
      inSequence(async () => {
        reader.close()
        connection.close()
      }),
  }
}
