import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  CommitUnknownError,
  DatabaseUnavailableError,
  type Database,
  type Queryable,
  type SqlValue,
} from './database.js'

/** A connection could not be opened, for whatever reason: network, TLS, authorization, limits. */
class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  constructor(cause: unknown) {
    super('cannot connect to PostgreSQL', { cause })
  }
}

const getCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code)

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host was not found',
  '25006': 'it is read-only',
  '28000': 'access was denied',
  '28P01': 'the password was rejected',
  '3D000': 'the database does not exist',
  '53100': 'its disk is full',
  '53300': 'it has no free connection',
  '57P03': 'it is starting',
}

/** OpenSSL (X509_V_ERR_…) and Node error codes */
const CERTIFICATE_CODES = /CERT|ISSUER|LEAF_SIGNATURE|HOSTNAME_MISMATCH/

/** Describes an error without hosts, users or values. */
const describePostgresError = (error: unknown): string => {
  if (error instanceof ConnectionError) return describePostgresError(error.cause)
  const code = getCode(error)
  if (CERTIFICATE_CODES.test(code)) {
    return `its certificate cannot be verified (${code}); see sslmode in docs/deployment.md`
  }
  const reason = REASONS[code]
  if (reason !== undefined) return `${reason} (${code})`
  if (code !== '') return code
  return error instanceof Error ? error.message : String(error)
}

/** 40001 serialization_failure, 40P01 deadlock_detected: the same transaction may succeed now. */
const CONFLICTS = ['40001', '40P01']
const isConflict = (error: unknown): boolean => CONFLICTS.includes(getCode(error))

/**
 * Classes of errors that are not caused by the query: connection, authorization, missing database,
 * insufficient resources, operator intervention, system error; and a server that has become a
 * read-only replica.
 */
const UNAVAILABLE = /^(?:08|28|3D|53|57|58)|^25006$/

/** Messages of driver errors, which have no code. */
const CONNECTION_LOST =
  /^(?:Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client (?:was closed|has encountered))/i

/** The error to throw after a failure of the connection or the server. */
const createUnavailableError = (cause: unknown): DatabaseUnavailableError =>
  new DatabaseUnavailableError(`PostgreSQL is not available: ${describePostgresError(cause)}`, {
    cause,
  })

/** Whether an error, even from another thread, concerns the connection or server, not the query. */
const isUnavailable = (error: unknown): boolean => {
  // Errors from other threads keep their name, but not their class.
  if (error instanceof Error && error.name === 'ConnectionError') return true
  const code = getCode(error)
  if (isSqlState(code)) return UNAVAILABLE.test(code)
  return /^E[A-Z]+/.test(code) || (error instanceof Error && CONNECTION_LOST.test(error.message))
}

/** Whether an error means that `constraint`, or any unique constraint by default, was violated. */
export const isDuplicate = (error: unknown, constraint?: string): boolean =>
  getCode(error) === '23505' &&
  (constraint === undefined || (error as { constraint?: string }).constraint === constraint)

/**
 * Whether an error means that the object that a statement creates already exists: 42710
 * duplicate_object, 42P07 duplicate_table.
 */
export const existsAlready = (error: unknown): boolean =>
  ['42710', '42P07'].includes(getCode(error))

/** Replaces each `?` by `$1`, `$2` and so on. */
function numberParameters(sql: string): string {
  let count = 0
  return sql.replaceAll('?', () => `$${++count}`)
}

/** Parses 64-bit integers as numbers, because IDs, amounts and timestamps are below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === pg.types.builtins.INT8 ? Number : (pg.types.getTypeParser(id, format) as unknown),
}

const CONNECT_TIMEOUT_MS = 3_000
const STATEMENT_TIMEOUT_MS = 8_000
/** Short, because requests start with such statements, for example to read the session */
const SINGLE_STATEMENT_TIMEOUT_MS = 2_000
const MIGRATION_TIMEOUT_MS = 60 * 60 * 1000
/** Time for the server to report its own time-out */
const RESPONSE_GRACE_MS = 2_000

const MAX_CONFLICT_MS = 5_000
/** A pooled connection may have been closed in the meantime; a new one is tried once. */
const MAX_CONNECTION_TRIES = 2

/** The next query on a lost connection reports the error. */
const ignore = () => undefined

/** Compiling a query, or starting processes for it, takes longer than the queries of the service. */
const SHORT_QUERIES = 'SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0'

interface Mode {
  begin: string
  isReadOnly: boolean
  timeoutMs: number
}

const MODES = {
  read: { begin: 'BEGIN READ ONLY', isReadOnly: true, timeoutMs: STATEMENT_TIMEOUT_MS },
  snapshot: {
    begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    isReadOnly: true,
    timeoutMs: STATEMENT_TIMEOUT_MS,
  },
  write: { begin: 'BEGIN', isReadOnly: false, timeoutMs: STATEMENT_TIMEOUT_MS },
  migration: { begin: 'BEGIN', isReadOnly: false, timeoutMs: MIGRATION_TIMEOUT_MS },
} satisfies Record<string, Mode>

/**
 * Opens a pool of connections. Keeps no state in a session, so that it also works with PgBouncer in
 * transaction mode.
 *
 * @param onError called when an idle connection fails
 */
export function openPostgres(
  url: string,
  {
    poolSize,
    onError = ignore,
  }: { poolSize: number; onError?: ((error: Error) => void) | undefined },
): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
  })
  pool.on('error', onError)
  // Without a listener, an error between queries would end the process.
  pool.on('connect', (client) => client.on('error', ignore))

  async function connect(): Promise<pg.PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      throw new ConnectionError(error)
    }
  }

  async function tryOnce<T>(
    { begin, isReadOnly, timeoutMs }: Mode,
    work: (tx: Queryable) => Promise<T>,
  ): Promise<T> {
    const client = await connect()
    const send = (text: string, values: readonly SqlValue[] = []) => {
      const config = { text, values: [...values], query_timeout: timeoutMs + RESPONSE_GRACE_MS }
      return client.query(config)
    }
    let isCommitting = false
    try {
      await send(`${begin}; SET LOCAL statement_timeout = ${timeoutMs}; ${SHORT_QUERIES}`)
      const result = await work({
        query: async <Row>(sql: string, values?: readonly SqlValue[]) =>
          (await send(numberParameters(sql), values)).rows as Row[],
      })
      isCommitting = true
      await send('COMMIT')
      client.release()
      return result
    } catch (error) {
      if (isCommitting && !isConflict(error)) {
        client.release(error as Error)
        throw isReadOnly ? error : new CommitUnknownError(error)
      }
      await send('ROLLBACK').then(
        () => client.release(),
        (failure: unknown) => client.release(failure as Error),
      )
      throw error
    }
  }

  /** Retries work that failed because of a conflict or because the database was not available. */
  async function retry<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + MAX_CONFLICT_MS
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (error instanceof CommitUnknownError) throw error
        const hasConflict = isConflict(error)
        if (!hasConflict && !isUnavailable(error)) throw error
        const mayRetry = hasConflict ? performance.now() < deadline : tries < MAX_CONNECTION_TRIES
        if (!mayRetry) throw createUnavailableError(error)
      }
      await sleep(5 + Math.random() * 20 * Math.min(tries, 10))
    }
  }

  /** Runs a transaction; for `work`, see `Database.write`. */
  const run = <T>(mode: Mode, work: (tx: Queryable) => Promise<T>): Promise<T> =>
    retry(() => tryOnce(mode, work))

  /**
   * Runs a single statement without a transaction. It may run twice if the connection is lost or
   * the response takes too long. Throws DatabaseUnavailableError.
   */
  const query = <Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> =>
    retry(async () => {
      const config = {
        text: numberParameters(sql),
        values: [...values],
        query_timeout: SINGLE_STATEMENT_TIMEOUT_MS,
      }
      const client = await connect()
      try {
        const { rows } = await client.query(config)
        client.release()
        return rows as Row[]
      } catch (error) {
        client.release(error as Error)
        throw error
      }
    })

  return {
    engine: 'postgres',
    query,
    read: (work) => run(MODES.read, work),
    readSnapshot: (work) => run(MODES.snapshot, work),
    write: (work) => run(MODES.write, work),
    migrate: (work) => run(MODES.migration, work),
    check: () => undefined,
    translateError: (error) => (isUnavailable(error) ? createUnavailableError(error) : error),
    async getReadiness() {
      try {
        await query('SELECT 1')
        return { ready: true, detail: 'PostgreSQL responds' }
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError)) throw error
        return { ready: false, detail: error.message }
      }
    },
    close: () => pool.end(),
  }
}

/** Reads the rows of a query in batches, through a cursor on its own connection. */
export async function* openPostgresCursor<Row>(
  url: string,
  { sql, values }: { sql: string; values: readonly SqlValue[] },
  batchSize: number,
): AsyncGenerator<Row[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
  })
  client.on('error', ignore)
  try {
    await client.connect()
  } catch (error) {
    throw new ConnectionError(error)
  }
  try {
    await client.query(MODES.read.begin)
    const text = `DECLARE batches NO SCROLL CURSOR FOR ${numberParameters(sql)}`
    await client.query(text, [...values])
    for (;;) {
      const { rows } = await client.query(`FETCH ${batchSize} FROM batches`)
      if (rows.length === 0) return
      yield rows as Row[]
    }
  } finally {
    await client.end()
  }
}
