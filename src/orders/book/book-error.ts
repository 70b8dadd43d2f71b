/** The order book cannot be used; `message` says to the operator why, and what to do. */
export class BookError extends Error {
  override readonly name = 'BookError'
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)|database disk image is malformed|file is not a database/

/** Whether a file is no whole database any more. Errors of other threads have their words only. */
export const isDamage = (error: unknown): boolean =>
  DAMAGE.test(codeOf(error)) || (error instanceof Error && DAMAGE.test(error.message))

const REASONS: readonly [codes: RegExp, reason: string][] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full, so make room'],
  [
    /^(SQLITE_READONLY|SQLITE_PERM|EACCES|EPERM|EROFS)/,
    'this user may not write there, so give the right to',
  ],
  [/^(SQLITE_IOERR|EIO)/, 'the disk has no room left, or fails'],
  [/^SQLITE_BUSY/, 'another process writes to it, so start again when that is done'],
]

/** Why something could not be done with the file of a book, and what to do, in words. */
const wordsFor = (error: unknown): string | undefined =>
  REASONS.find(([codes]) => codes.test(codeOf(error)))?.[1]

/** The same with its code, to be told where the file is not named. */
export const reasonOf = (error: unknown): string =>
  `${wordsFor(error) ?? 'for an unknown reason'} (${codeOf(error) || 'no code'})`

/** What a library or the system throws over the file of a book, as a BookError. */
export function asBookError(path: string, error: unknown): BookError {
  if (error instanceof BookError) return error
  const code = codeOf(error)
  const reason = wordsFor(error)
  return new BookError(
    `${path} cannot be opened (${code || 'unknown reason'})${reason === undefined ? '' : `: ${reason}`}.`,
    { cause: error },
  )
}
