import type { FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseUnavailableError } from '../database/database.js'
import { getRequestOrigin } from '../core/http/fetch-metadata.js'
import { Problem } from '../core/http/problem.js'

/**
 * Error handler of sign-out routes: clears the cookie even if the session is not valid or cannot be
 * ended, unless another site sent the request. Always throws: a Problem (503) if the database is
 * unavailable, otherwise the given error.
 */
export function handleSignOutError(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): never {
  const isUnavailable = error instanceof DatabaseUnavailableError
  const isUnauthorized = error instanceof Problem && error.statusCode === 401
  const origin = getRequestOrigin(request, request.server.publicBaseUrl())
  if ((isUnavailable || isUnauthorized) && origin !== 'cross-origin') reply.clearSessionCookie()
  if (!isUnavailable) throw error
  request.log.error({ err: error }, 'a session could not be ended')
  throw new Problem(
    503,
    'The database is not responding, so your session was not ended on the server. This browser no longer has access, but anyone with a copy of the token still does. To end the session, sign in again later and sign out the other devices on your account page.',
    { headers: { 'retry-after': '5' } },
  )
}
