import { Problem } from '../core/http/problem.js'
import { createNotSavedProblem, RETRY_AFTER_FIX_S } from './sync-state.js'

const MESSAGES = {
  /** No connection: the request was not sent */
  unreachable: 'NocoDB cannot be reached',
  /** The response did not arrive in time, or it is incomplete */
  no_response: 'NocoDB is not responding',
  /** Status 500 and above */
  server_error: 'NocoDB returned a server error',
  /** A response that is not from NocoDB, such as a proxy's error page */
  invalid_response: 'the response is not from NocoDB',
  response_too_large: 'the response from NocoDB is too large',
  /** The request rate exceeds NocoDB's limit or our own */
  rate_limited: 'the NocoDB rate limit was exceeded',
  unauthorized: 'NocoDB rejected the API token (DATABASE_API_KEY)',
  table_not_found: 'NocoDB base or table not found (DATABASE_BASE_ID, DATABASE_ORDERS_TABLE_ID)',
  record_not_found: 'NocoDB record not found',
  column_not_found: 'a column is missing from the NocoDB table (npm run nocodb:setup adds it)',
  value_rejected: 'NocoDB rejected a value',
  query_rejected: 'NocoDB rejected a query, so its version may not be supported',
}

export type NocoDbErrorCode = keyof typeof MESSAGES

interface Details {
  /** Whether NocoDB may have executed the request */
  isIndeterminate?: boolean
  /** Delay before a retry, in ms, if known */
  retryAfterMs?: number | undefined
  /** Status of the response */
  status?: number
  /** Error code from NocoDB or the network; never a cell value */
  code?: string | undefined
}

/**
 * A request to NocoDB failed. `message` can be logged and shown: it contains neither cell values
 * nor the token.
 */
export class NocoDbError extends Error {
  override readonly name = 'NocoDbError'
  readonly isIndeterminate: boolean
  readonly retryAfterMs: number | null
  readonly status: number | undefined
  readonly code: string | undefined

  constructor(
    readonly errorCode: NocoDbErrorCode,
    { isIndeterminate = false, retryAfterMs, status, code }: Details = {},
  ) {
    super(MESSAGES[errorCode])
    this.isIndeterminate = isIndeterminate
    this.retryAfterMs = retryAfterMs ?? null
    this.status = status
    this.code = code
  }
}

/** A retry may succeed without an operator's intervention. */
const TRANSIENT: readonly NocoDbErrorCode[] = [
  'unreachable',
  'no_response',
  'server_error',
  'invalid_response',
  'response_too_large',
  'rate_limited',
  'query_rejected',
]

/** For a write that was not executed. */
export function notWritten({ errorCode, message, retryAfterMs }: NocoDbError): Problem {
  if (errorCode === 'value_rejected') {
    return new Problem(502, 'Nothing was saved. NocoDB rejected a value of this order.')
  }
  if (!TRANSIENT.includes(errorCode)) return createNotSavedProblem(message, RETRY_AFTER_FIX_S)
  return retryAfterMs === null
    ? createNotSavedProblem(message)
    : createNotSavedProblem(message, Math.max(1, Math.ceil(retryAfterMs / 1000)))
}

/** For a write that conflicted with concurrent writes, or waited for them too long. */
export const tooBusy = (): Problem =>
  createNotSavedProblem('other users are changing this order. Try again', 1)

const unconfirmed = (what: string, advice: string, cause: unknown): Problem =>
  new Problem(503, `NocoDB did not respond, so we couldn't confirm that ${what}. ${advice}`, {
    headers: { 'retry-after': '5' },
    cause,
  })

/** For a change that NocoDB may have executed without responding. */
export const changeUnconfirmed = (cause?: unknown): Problem =>
  unconfirmed('the change was saved', 'Check the order before you try again.', cause)

/** For a new order that NocoDB may have created without responding. */
export const creationUnconfirmed = (hasKey: boolean, cause?: unknown): Problem =>
  unconfirmed(
    'the order was created',
    hasKey
      ? "It's safe to retry with the same Idempotency-Key."
      : 'Check the list of orders before you create it again.',
    cause,
  )
