import { Problem } from '../core/http/problem.js'
import type { WebhookEndpoint } from './endpoint-store.js'
import { MAX_ENDPOINTS } from './endpoints.js'

/** Returns a value; throws a Problem (404) if it is `null`. */
export function requireFound<T>(value: T | null, resource = 'Webhook endpoint'): T {
  if (value === null) throw new Problem(404, `${resource} not found.`)
  return value
}

/** Throws a Problem if the endpoint does not exist (404) or is disabled (409). */
export function requireEnabled(endpoint: WebhookEndpoint | null): void {
  if (requireFound(endpoint).disabledReason !== null) {
    throw new Problem(409, 'The endpoint is disabled. Enable it before you replay deliveries.')
  }
}

export const createTooManyProblem = (): Problem =>
  new Problem(409, `You can have up to ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`)
