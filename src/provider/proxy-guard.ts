import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../http/problem.js'
import { checkContentLength, limitBody } from './body-limit.js'
import { isPublic, type PublicRoutes } from './public-routes.js'
import { toUpstreamPath } from './upstream-path.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is relayed for everybody; the gate of the relay finds that out. */
    isForEverybody: boolean
  }
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const takesBody = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD'

/** Throws 400 for what a relay must not guess about. */
function checkShape(request: FastifyRequest): void {
  if (/websocket/i.test(request.headers.upgrade ?? '')) {
    throw new Problem(400, 'Connections are not upgraded here.')
  }
  if (!takesBody(request) && hasBody(request)) {
    throw new Problem(400, `A ${request.method} request takes no body here.`)
  }
  checkContentLength(request.headers['content-length'])
}

/**
 * Lets through, within a scope, only what may be relayed: administrators, everybody for public
 * routes, and from either only addresses and bodies of which there are no two readings. Whoever is
 * refused counts as a request first.
 */
export function addProxyGuard(scope: FastifyInstance, publicRoutes: PublicRoutes): void {
  scope.decorateRequest('isForEverybody', false)
  scope.addHook('onRequest', scope.rateLimit())
  scope.addHook('onRequest', async function (request, reply) {
    const path = toUpstreamPath(request.originalUrl)
    if (path === null) throw new Problem(400, 'The address is malformed.')
    request.isForEverybody = isPublic(publicRoutes, request.method, path)
    if (!request.isForEverybody) {
      await scope.requireAdministrator.call(this, request, reply)
    }
    checkShape(request)
  })
  scope.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request)) {
      done(null, payload)
      return
    }
    const body = limitBody(request.raw)
    reply.raw.once('close', () => body.destroy())
    done(null, body)
  })
}
