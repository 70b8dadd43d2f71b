import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../core/http/problem.js'
import { decodeUpstreamPath, getProviderScope, isPublicRoute, type PublicRoutes } from './paths.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether anyone may send this request through the proxy; set by the proxy guard */
    isPublicRoute: boolean
  }
}

const MAX_BODY_MB = 10
const MAX_BODY_BYTES = MAX_BODY_MB * 1024 * 1024

const createTooLargeProblem = (): Problem =>
  new Problem(413, `The body must not exceed ${MAX_BODY_MB} MB.`)

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function checkRequest(request: FastifyRequest): void {
  const { headers, method } = request
  if (/websocket/i.test(headers.upgrade ?? '')) {
    throw new Problem(400, 'WebSocket connections are not supported.')
  }
  if ((method === 'GET' || method === 'HEAD') && hasBody(request)) {
    throw new Problem(400, `A ${method} request must not have a body.`)
  }
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw createTooLargeProblem()
}

/**
 * Returns the request body as a stream. The stream fails with 413 if the body exceeds the limit,
 * and with 400 if the client disconnects. Destroying the stream does not close the client's
 * connection.
 */
function limitBody(body: IncomingMessage): Transform {
  let bytes = 0
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) done(createTooLargeProblem())
      else done(null, chunk)
    },
  })
  const onClose = () => {
    if (!body.complete) limited.destroy(new Problem(400, 'The body is incomplete.'))
  }
  body.on('close', onClose).on('error', onClose)
  // While the request waits for a connection, this is the only error listener.
  limited.on('error', () => undefined)
  // Discard the rest, so that the client can read the response.
  limited.once('close', () => body.unpipe(limited).resume())
  return body.pipe(limited)
}

/**
 * Adds the checks of the proxy to a scope. Each request must be within the rate limit and have an
 * unambiguous path. Unless the route is public, it needs a user or an API key, and CSRF protection
 * applies. The size of the body is limited. Rejected requests count towards the rate limit.
 */
export function addProxyGuard(scope: FastifyInstance, publicRoutes: PublicRoutes): void {
  scope.decorateRequest('isPublicRoute', false)
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, permission: getProviderScope }
  })
  scope.addHook('onRequest', scope.rateLimit())
  scope.addHook('onRequest', async function (request, reply) {
    const path = decodeUpstreamPath(request.originalUrl)
    if (path === null) throw new Problem(400, 'The URL is malformed.')
    request.isPublicRoute = isPublicRoute(publicRoutes, request.method, path)
    if (!request.isPublicRoute) await scope.requireAdministrator.call(this, request, reply)
    checkRequest(request)
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
