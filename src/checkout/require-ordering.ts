import { Problem } from '../core/http/problem.js'

/** Throws a Problem (404) if ordering is off. */
export function requireOrdering<T>(service: T | null): T {
  if (service === null) throw new Problem(404, 'Ordering is not available here.')
  return service
}
