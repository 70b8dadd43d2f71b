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
   * outside its transaction. It must use only `tx`: with any other query it could wait for itself,
   * because SQLite has one writer, and PostgreSQL a limited number of connections. Throws CommitUnknownError if the connection is lost during the commit.
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

/** The order database cannot be used; `message` explains why and what to do. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
}

/** The code of an error or of its cause, even if it comes from a worker; empty if there is none. */
export function getErrorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  if ('code' in error) return String(error.code)
  return 'cause' in error ? getErrorCode(error.cause) : ''
}

/** Whether another connection has locked the database. */
export const isBusy = (error: unknown): boolean => getErrorCode(error).startsWith('SQLITE_BUSY')

/**
 * Whether an error means that the database is damaged. A truncated journal is reported as a short
 * read. Errors from workers can lose their code, but not their message.
 */
export const isCorruption = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(getErrorCode(error)) ||
  (error instanceof Error &&
    /database disk image is malformed|file is not a database/.test(error.message))

const REASONS: readonly [codes: RegExp, reason: string][] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full'],
  [/^(SQLITE_READONLY|SQLITE_PERM|EACCES|EPERM|EROFS)/, 'it is not writable'],
  [/^(SQLITE_CANTOPEN|ENOENT)/, 'its directory is missing or not writable'],
  [/^(SQLITE_IOERR|EIO)/, 'the disk is full or failing'],
  [/^SQLITE_BUSY/, 'it is locked by another process'],
]

/** Describes a file system or SQLite error, with its code and without the path. */
export function describeDatabaseError(error: unknown): string {
  const code = getErrorCode(error) || 'no error code'
  // SQLITE_ERROR: a statement does not match the schema, for example because a table is missing.
  if (code === 'SQLITE_ERROR' && error instanceof Error) {
    return `${error.message}; restore it from a backup`
  }
  const [, reason] = REASONS.find(([codes]) => codes.test(code)) ?? []
  return reason === undefined ? code : `${reason} (${code})`
}

/** Converts a file system or SQLite error. */
export const toDatabaseError = (path: string, error: unknown): DatabaseError =>
  error instanceof DatabaseError
    ? error
    : new DatabaseError(`Cannot open ${path}: ${describeDatabaseError(error)}.`, { cause: error })

/** Limits the parameters of a statement. */
const ROWS_PER_STATEMENT = 500

interface Clauses {
  /** Before VALUES, such as `OVERRIDING SYSTEM VALUE` */
  before?: string
  /** After the rows, such as `ON CONFLICT …` */
  after?: string
}

/** Inserts rows into columns of a table. */
export async function insertRows<Name extends string>(
  tx: Queryable,
  table: string,
  columns: readonly Name[],
  rows: readonly Readonly<Record<Name, SqlValue>>[],
  { before = '', after = '' }: Clauses = {},
): Promise<void> {
  const placeholders = `(${columns.map(() => '?').join(', ')})`
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const part = rows.slice(start, start + ROWS_PER_STATEMENT)
    await tx.query(
      `INSERT INTO ${table} (${columns.join(', ')}) ${before}
       VALUES ${part.map(() => placeholders).join(', ')} ${after}`,
      part.flatMap((row) => columns.map((name) => row[name])),
    )
  }
}

/** Inserts a row whose properties are named as the columns. */
export const insertRow = <Row extends Readonly<Record<keyof Row, SqlValue>>>(
  tx: Queryable,
  table: string,
  row: Row,
): Promise<void> => {
  const columns = Object.keys(row) as (keyof Row & string)[]
  return insertRows(tx, table, columns, [row])
}
