/** The order book cannot be used; `message` says to the operator why, and what to do. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
}

/** The code of an error, also of one that has come over from a thread; empty where it has none. */
export function getErrorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  if ('code' in error) return String(error.code)
  return 'cause' in error ? getErrorCode(error.cause) : ''
}

/** Whether another process holds the file. */
export const isBusy = (error: unknown): boolean => getErrorCode(error).startsWith('SQLITE_BUSY')

const DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/
const WORDS_OF_DAMAGE = /database disk image is malformed|file is not a database/

/**
 * Whether a file is not as SQLite left it: a journal that is cut off ends too soon. Of errors of
 * other threads, sometimes the words alone are left.
 */
export const isCorruption = (error: unknown): boolean =>
  DAMAGE.test(getErrorCode(error)) ||
  (error instanceof Error && WORDS_OF_DAMAGE.test(error.message))

const REASONS: readonly [codes: RegExp, reason: string][] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full, so make room'],
  [
    /^(SQLITE_READONLY|SQLITE_PERM|EACCES|EPERM|EROFS)/,
    'this user may not write there, so give the right to',
  ],
  [/^SQLITE_CANTOPEN/, 'its folder may only be read, or is gone, so give the right to write there'],
  [/^(SQLITE_IOERR|EIO)/, 'the disk has no room left, or fails'],
  [/^SQLITE_BUSY/, 'another process writes to it, so start again when that is done'],
]

/** Why something could not be done with the file of a book, and what to do, in words. */
const wordsFor = (error: unknown): string | undefined =>
  REASONS.find(([codes]) => codes.test(getErrorCode(error)))?.[1]

/** The same with its code, to be told where the file is not named. */
export const describeDatabaseError = (error: unknown): string =>
  `${wordsFor(error) ?? 'for an unknown reason'} (${getErrorCode(error) || 'no code'})`

/** What a library or the system throws over the file of a book, as a DatabaseError. */
export function toDatabaseError(path: string, error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  const code = getErrorCode(error)
  const reason = wordsFor(error)
  return new DatabaseError(
    `${path} cannot be opened (${code || 'unknown reason'})${reason === undefined ? '' : `: ${reason}`}.`,
    { cause: error },
  )
}
