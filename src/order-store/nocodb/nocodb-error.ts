/** What can be wrong when NocoDB is asked. */
export type NocoDbErrorCode =
  /** No connection came about: nothing was done */
  | 'unreachable'
  /** No answer in time, or none to the end */
  | 'no answer'
  /** An answer of 500 and above */
  | 'failing'
  /** An answer that is none of NocoDB's */
  | 'garbage'
  /** An answer longer than is read */
  | 'too large'
  /** Too many requests, by NocoDB's count or by ours */
  | 'rationed'
  | 'token refused'
  | 'no such table'
  | 'no such record'
  | 'no such column'
  /** A value that NocoDB does not take */
  | 'value refused'
  /** A question that NocoDB does not answer, though it changes nothing */
  | 'question refused'

const WORDS: Record<NocoDbErrorCode, string> = {
  unreachable: 'NocoDB cannot be reached',
  'no answer': 'NocoDB does not answer in time',
  failing: 'NocoDB answers with errors of its own',
  garbage: 'what answers is not NocoDB',
  'too large': 'NocoDB answers with more than can be read',
  rationed: 'NocoDB takes no more requests at the moment',
  'token refused': 'NocoDB refuses the token (DATABASE_API_KEY)',
  'no such table': 'NocoDB has no such base or table (DATABASE_BASE_ID, DATABASE_ORDERS_TABLE_ID)',
  'no such record': 'NocoDB has no such record',
  'no such column': 'the table lacks a column (npm run nocodb:setup adds it)',
  'value refused': 'NocoDB refuses a value',
  'question refused':
    'NocoDB does not understand what it is asked, so it may be of another version',
}

interface Details {
  /** Whether NocoDB may have done what it was asked */
  mayBeDone?: boolean
  /** When to ask again, ms from now, where that is known */
  retryAfterMs?: number
  /** Status of the answer and NocoDB's own code; never a value */
  status?: number
  code?: string
}

/** NocoDB did not do as asked. `message` is fit for logs and operators: no value, no token. */
export class NocoDbError extends Error {
  override readonly name = 'NocoDbError'
  readonly mayBeDone: boolean
  readonly retryAfterMs: number | null
  readonly status: number | undefined
  readonly code: string | undefined

  constructor(
    readonly trouble: NocoDbErrorCode,
    { mayBeDone = false, retryAfterMs, status, code }: Details = {},
  ) {
    super(WORDS[trouble])
    this.mayBeDone = mayBeDone
    this.retryAfterMs = retryAfterMs ?? null
    this.status = status
    this.code = code
  }
}

/** Whether the same may go well later without anybody doing anything. */
export const isTransient = ({ trouble }: NocoDbError): boolean =>
  [
    'unreachable',
    'no answer',
    'failing',
    'garbage',
    'too large',
    'rationed',
    'question refused',
  ].includes(trouble)
