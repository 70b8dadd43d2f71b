/** A value of a query parameter; arrays are sent to PostgreSQL as arrays. */
export type SqlValue = string | number | boolean | null | readonly (string | number)[]

/** Runs queries, whose parameters are written as `?`. */
export interface Queryable {
  query<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
}

/**
 * The database of the service: SQLite or PostgreSQL. Statements must be valid in both, so columns
 * contain only text and numbers. All methods throw DatabaseUnavailableError.
 */
export interface Database extends Queryable {
  /**
   * Runs a transaction that writes. `work` may run more than once, so it must not change anything
   * outside its transaction. Throws CommitUnknownError if the connection is lost during the commit.
   */
  write<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The database cannot be reached, or cannot execute queries at the moment. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError'
  /** Whether the database is damaged, in which case an operator has to restore a backup */
  readonly isDamaged: boolean

  constructor(
    message: string,
    { cause, isDamaged = false }: { cause?: unknown; isDamaged?: boolean },
  ) {
    super(message, { cause })
    this.isDamaged = isDamaged
  }
}

/** The connection was lost after COMMIT was sent, so the transaction may have been committed. */
export class CommitUnknownError extends Error {
  override readonly name = 'CommitUnknownError'

  constructor(cause: unknown) {
    super('The outcome of a transaction is unknown', { cause })
  }
}
