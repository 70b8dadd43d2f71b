import { Problem } from '../core/http/problem.js'
/** A value of a query parameter; arrays are sent to PostgreSQL as arrays. */
export type SqlValue = string | number | boolean | null | readonly (string | number)[]

/** Runs queries, whose parameters are written as `?`. */
export interface Queryable {
  query<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
}

/**
 * The database of the service: SQLite or PostgreSQL. Statements must be valid in both, so columns
 * contain only text and numbers. All methods throw DatabaseUnavailableError, and a Problem (503)
 * once the file of SQLite is damaged or was replaced.
 */
export interface Database extends Queryable {
  readonly engine: 'sqlite' | 'postgres'
  /** Reads with several statements; each sees what was committed before it. */
  read<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** Reads with several statements that all see the same state, however long `work` takes. */
  readSnapshot<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /**
   * Runs a transaction that writes. `work` may run more than once, so it must not change anything
   * outside its transaction. Throws CommitUnknownError if the connection is lost during the commit.
   */
  write<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** Like `write`, for work that may take minutes. */
  migrate<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** Throws a Problem (503) if the file is known to be damaged, or was replaced. */
  check(): void
  /** Returns the error to throw for one of another thread that reads the same database. */
  translateError(error: unknown): unknown
  /** Whether it can be read and written to, for `/readyz`. Throws a Problem (503) like `check`. */
  getReadiness(): Promise<{ ready: boolean; detail: string }>
  close(): Promise<void>
}

/** The database cannot be reached, or cannot execute queries at the moment. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError'
  /** Whether other writers or the network are the reason; otherwise the disk is */
  readonly isTemporary: boolean

  constructor(
    message: string,
    { cause, isTemporary = true }: { cause?: unknown; isTemporary?: boolean },
  ) {
    super(message, { cause })
    this.isTemporary = isTemporary
  }

  /** What the client is told */
  get problem(): Problem {
    return new Problem(503, 'The database is not responding. Try again in a few seconds.', {
      headers: { 'retry-after': '5' },
    })
  }
}

/** The connection was lost after COMMIT was sent, so the transaction may have been committed. */
export class CommitUnknownError extends Error {
  override readonly name = 'CommitUnknownError'

  constructor(cause: unknown) {
    super('The outcome of a transaction is unknown', { cause })
  }
}
