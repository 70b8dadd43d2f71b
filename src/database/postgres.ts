import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import {
  CommitUnknownError,
  DatabaseUnavailableError,
  type Database,
  type Queryable,
  type SqlValue,
} from './database.js'
import {
  ConnectionError,
  createUnavailableError,
  isConflict,
  isUnavailable,
} from './postgres-errors.js'

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
