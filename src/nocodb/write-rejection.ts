import { NocoDbError, isTransient, type NocoDbErrorCode } from './nocodb-error.js'
import {
  capitalize,
  describeSyncError,
  type SyncState,
  type WriteRejection,
} from './replica-messages.js'

/** A write was not executed or could not be confirmed, or an order could not be read. */
export class WriteRejectedError extends Error {
  override readonly name = 'WriteRejectedError'
  constructor(
    readonly rejection: WriteRejection,
    /** The NocoDB error that caused the rejection */
    readonly errorCode: NocoDbErrorCode | null = null,
  ) {
    super(rejection.detail)
  }
}

const RETRY_AFTER_S = 5
/** For errors that an operator must fix, in seconds. */
const RETRY_AFTER_FIX_S = 60

const reject = (detail: string, retryAfter = RETRY_AFTER_S, errorCode?: NocoDbErrorCode) =>
  new WriteRejectedError({ status: 503, detail, retryAfter }, errorCode)

const notSaved = (reason: string): string => `Nothing was saved. ${capitalize(reason)}.`

/** For a write that was not executed. */
export function notWritten(error: NocoDbError): WriteRejectedError {
  const { errorCode, message, retryAfterMs } = error
  if (errorCode === 'value_rejected') {
    const detail = notSaved('NocoDB rejected a value of this order')
    return new WriteRejectedError({ status: 502, detail, retryAfter: null }, errorCode)
  }
  const retryAfter =
    retryAfterMs === null ? RETRY_AFTER_S : Math.max(1, Math.ceil(retryAfterMs / 1000))
  return reject(notSaved(message), isTransient(error) ? retryAfter : RETRY_AFTER_FIX_S, errorCode)
}

/** For an order that cannot be read. */
export const notRead = ({ message, errorCode }: NocoDbError): WriteRejectedError =>
  reject(`The order cannot be read at the moment. ${capitalize(message)}.`, undefined, errorCode)

/**
 * For a write that is requested before the first load is complete, or while the schema is invalid
 * or not checked yet.
 */
export function notReady(state: SyncState): WriteRejectedError {
  const error = describeSyncError(state)
  if (error !== null) {
    const isSchemaInvalid = state.schemaMismatches.length > 0
    return reject(notSaved(error), isSchemaInvalid ? RETRY_AFTER_FIX_S : RETRY_AFTER_S)
  }
  return state.isLoaded
    ? reject(notSaved('the schema of the NocoDB table is being checked. Try again'), 1)
    : reject(notSaved('orders are loading from NocoDB. Try again later'))
}

/** For a write that conflicted with concurrent writes, or waited for them too long. */
export const tooBusy = (): WriteRejectedError =>
  reject(notSaved('other users are changing this order. Try again'), 1)

/** For a change that NocoDB may have executed without responding. */
export const changeUnconfirmed = (): WriteRejectedError =>
  reject(
    "NocoDB did not respond, so we couldn't confirm that the change was saved. Check the order before you try again.",
  )

/** For a new order that NocoDB may have created without responding. */
export const creationUnconfirmed = (hasKey: boolean): WriteRejectedError =>
  reject(
    `NocoDB did not respond, so we couldn't confirm that the order was created. ${
      hasKey
        ? "It's safe to retry with the same Idempotency-Key."
        : 'Check the list of orders before you create it again.'
    }`,
  )
