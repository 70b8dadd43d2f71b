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
