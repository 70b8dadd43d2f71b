import { NocoDbError, isTransient, type NocoDbErrorCode } from './nocodb-error.js'
import { capitalize, describeSyncError, type SyncState } from './sync-state.js'

/** Why a write was not done, as it is told to whoever asked for it. Crosses threads. */
export interface WriteRejection {
  status: 502 | 503
  detail: string
  /** s; `null` where waiting does not help */
  retryAfter: number | null
}

const RETRY_AFTER_S = 5

const secondsOf = (milliseconds: number | null): number =>
  milliseconds === null ? RETRY_AFTER_S : Math.max(1, Math.ceil(milliseconds / 1000))

/** A write was not done, or nobody knows whether it was. */
export class WriteRejectedError extends Error {
  override readonly name = 'WriteRejectedError'
  constructor(
    readonly refusal: WriteRejection,
    /** What was wrong with NocoDB, where that is why */
    readonly trouble: NocoDbErrorCode | null = null,
  ) {
    super(refusal.detail)
  }
}

const noChanges = (why: string): string =>
  `The orders take no changes at the moment: nothing was changed. ${capitalize(why)}.`

/** Nobody can mend it sooner, s. */
const MENDED_AFTER_S = 60

/** For a write of which nothing was done. */
export function notWritten(error: NocoDbError): WriteRejectedError {
  const { trouble } = error
  if (trouble === 'value refused') {
    const detail = 'NocoDB refuses a value of this order: nothing was changed.'
    return new WriteRejectedError({ status: 502, detail, retryAfter: null }, trouble)
  }
  const retryAfter = isTransient(error) ? secondsOf(error.retryAfterMs) : MENDED_AFTER_S
  return new WriteRejectedError(
    { status: 503, detail: noChanges(error.message), retryAfter },
    trouble,
  )
}

/** For a write while the table and the copy are not ready for it. */
export function notReady(state: SyncState): WriteRejectedError {
  const trouble = describeSyncError(state)
  const refuse = (why: string, retryAfter: number): WriteRejectedError =>
    new WriteRejectedError({ status: 503, detail: noChanges(why), retryAfter })
  if (trouble !== null) {
    return refuse(trouble, state.misfits.length > 0 ? MENDED_AFTER_S : RETRY_AFTER_S)
  }
  return state.isLoaded
    ? refuse('the table in NocoDB is being looked at first: try again', 1)
    : refuse('they are being taken in from NocoDB', RETRY_AFTER_S)
}

/** Others write to the order without a pause. */
export const tooBusy = (): WriteRejectedError =>
  new WriteRejectedError({
    status: 503,
    detail: 'Others change this order at the moment: nothing was changed. Try again.',
    retryAfter: 1,
  })

/** For a change that NocoDB may have made without saying so. */
export const changeUnconfirmed = (): WriteRejectedError =>
  new WriteRejectedError({
    status: 503,
    detail:
      'NocoDB does not answer, so it is not known whether the change was made: look at the order when it does.',
    retryAfter: RETRY_AFTER_S,
  })

/** For an order that NocoDB may have entered without saying so. */
export const creationUnconfirmed = (hasKey: boolean): WriteRejectedError =>
  new WriteRejectedError({
    status: 503,
    detail: hasKey
      ? 'NocoDB does not answer, so it is not known whether the order was entered. The same request with the same Idempotency-Key enters it once.'
      : 'NocoDB does not answer, so it is not known whether the order was entered: look for it before it is entered again.',
    retryAfter: RETRY_AFTER_S,
  })
