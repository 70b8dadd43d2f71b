import { Problem } from '../core/http/problem.js'
import { isTransient, type NocoDbError } from './nocodb-error.js'
import { createNotSavedProblem, RETRY_AFTER_FIX_S } from './sync-state.js'

/** For a write that was not executed. */
export function notWritten(error: NocoDbError): Problem {
  const { errorCode, message, retryAfterMs } = error
  if (errorCode === 'value_rejected') {
    return new Problem(502, 'Nothing was saved. NocoDB rejected a value of this order.')
  }
  if (!isTransient(error)) return createNotSavedProblem(message, RETRY_AFTER_FIX_S)
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
