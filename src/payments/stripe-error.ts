/** Keys and webhook secrets, even if Stripe masks them with asterisks. */
const SECRETS = /\b(?:sk|rk|pk|whsec)_[\w*]+/g

/**
 * Stripe did not respond or failed, or it rejected the request for a reason that can pass, such as
 * a rate limit or a wrong key. The request may have had an effect.
 */
export class StripeUnavailableError extends Error {
  override readonly name = 'StripeUnavailableError'

  constructor(
    message: string,
    /** Stripe failed (5xx) and repeats its response to requests with the same idempotency key */
    readonly isRepeated = false,
  ) {
    super(message)
  }
}

/** Stripe rejected a request permanently. */
export class StripeRefusedError extends Error {
  override readonly name = 'StripeRefusedError'
}

interface Properties {
  type?: unknown
  code?: unknown
  statusCode?: unknown
  requestId?: unknown
  headers?: Partial<Record<string, string>>
}

/** Whether an error is Stripe's saved response to an earlier request with the same key. */
export const isReplay = (error: unknown): boolean =>
  (error as Properties).headers?.['idempotent-replayed'] === 'true'

/** Not final, because a retry can succeed: authentication, permission, conflict, rate limit. */
const PASSING_STATUSES = [401, 403, 409, 429]

/**
 * Converts an error from the Stripe library. The new message contains Stripe's error type and code,
 * but no secrets.
 */
export function toStripeError(error: unknown): StripeUnavailableError | StripeRefusedError {
  const { type, code, statusCode, requestId } = error as Properties
  const text = error instanceof Error ? error.message : 'unknown error'
  const details = [type, code, statusCode, requestId].filter(
    (detail) => typeof detail === 'string' || typeof detail === 'number',
  )
  const message = `${text.replace(SECRETS, '[secret]')} (${details.join(', ')})`
  const status = typeof statusCode === 'number' ? statusCode : 0
  return status >= 400 && status < 500 && !PASSING_STATUSES.includes(status)
    ? new StripeRefusedError(message)
    : new StripeUnavailableError(message, status >= 500)
}
