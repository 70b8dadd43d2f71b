import type { IncomingMessage } from 'node:http'
import { finished, Readable, Transform } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import httpProxy from '@fastify/http-proxy'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../core/http/problem.js'
import { API_POLICY } from '../core/server/security-headers.js'
import {
  CLIENT_HEADERS,
  createUpstreamHeaders,
  hasContentEncoding,
  toClientHeaders,
  toUpstreamHeaders,
} from './headers.js'
import {
  decodeUpstreamPath,
  getProviderScope,
  isPublicRoute,
  MOUNT,
  parsePublicRoutes,
  PROXY_METHODS,
  toGuestPath,
  type PublicRoutes,
} from './paths.js'
import { getDocumentedRoutes, type DocumentedRoute } from './provider-schemas.js'
import { createSecretRedactor, type SecretRedactor } from './redact.js'
import {
  readWholeBody,
  toBodyError,
  UpstreamError,
  type UpstreamResponse,
} from './upstream-response.js'
import type { Upstream } from './upstream.js'

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
function addProxyGuard(scope: FastifyInstance, publicRoutes: PublicRoutes): void {
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

const CACHE_MS = 5_000
const MAX_ENTRIES = 100
const MAX_SHARED_BYTES = 2 * 1024 * 1024

/** A response that was read completely, so that several callers can share it. */
type SharedResponse = Pick<UpstreamResponse, 'statusCode' | 'headers'> & {
  body: Buffer | undefined
}

/**
 * Reads from the provider for guests. Guests who request the same path within five seconds share
 * one response, so that they cannot flood the provider. Failed requests are not kept. Throws a
 * Problem, usually an UpstreamError.
 */
function createGuestReader(upstream: Upstream) {
  const entries = new Map<string, { startedAt: number; response: Promise<SharedResponse> }>()

  async function read(path: string): Promise<SharedResponse> {
    const headers = createUpstreamHeaders(upstream.token)
    const response = await upstream.request({
      method: 'GET',
      path: upstream.basePath + path,
      headers,
    })
    return { ...response, body: await readWholeBody(response, MAX_SHARED_BYTES) }
  }

  return (path: string): Promise<SharedResponse> => {
    const known = entries.get(path)
    if (known !== undefined && performance.now() < known.startedAt + CACHE_MS) {
      return known.response
    }
    entries.delete(path)
    const [oldest] = entries.keys()
    if (entries.size >= MAX_ENTRIES && oldest !== undefined) entries.delete(oldest)
    const entry = { startedAt: performance.now(), response: read(path) }
    entries.set(path, entry)
    entry.response.catch(() => {
      if (entries.get(path) === entry) entries.delete(path)
    })
    return entry.response
  }
}

interface ProxyOptions {
  /** `null` if the order source is not configured */
  upstream: Upstream | null
}

/** The proxy under /api/ordersource; it responds with 503 if the order source is not configured. */
const proxy: FastifyPluginAsync<ProxyOptions> = async (app, { upstream }) => {
  const publicRoutes = parsePublicRoutes(app.config.ORDERSOURCE_PUBLIC_ROUTES) ?? new Map()
  const routes = getDocumentedRoutes(publicRoutes)
  // Always ready, because calculators and orders do not depend on the order source.
  app.readiness.set('orderSource', async () => ({
    ready: true,
    detail: upstream?.state() ?? 'not configured',
  }))
  await app.register(async (scope) => {
    addProxyGuard(scope, publicRoutes)
    if (upstream === null) addUnavailableRoutes(scope, routes)
    else await addProxyRoutes(scope, upstream, { routes, publicRoutes })
  })
}

export default proxy

function addUnavailableRoutes(scope: FastifyInstance, routes: DocumentedRoute[]): void {
  const handler = async () => {
    throw new Problem(503, 'The order source is not configured.')
  }
  // Runs before the body is parsed, so that errors in the body do not hide the 503.
  scope.addHook('preParsing', handler)
  for (const { method, url, schema } of routes) {
    scope.route({ method, url: MOUNT + url, schema, handler })
  }
  for (const url of [MOUNT, `${MOUNT}/*`]) scope.route({ method: PROXY_METHODS, url, handler })
}

async function addProxyRoutes(
  scope: FastifyInstance,
  upstream: Upstream,
  { routes, publicRoutes }: { routes: DocumentedRoute[]; publicRoutes: PublicRoutes },
): Promise<void> {
  scope.removeAllContentTypeParsers()
  // The schemas are only documentation, because the order source validates what it receives.
  scope.setValidatorCompiler(() => () => true)
  scope.setSerializerCompiler(() => JSON.stringify)
  scope.setErrorHandler((error, request, reply) => {
    if (error instanceof UpstreamError) {
      const { code, reason } = error
      request.log.info({ code, reason }, 'order source request failed')
    }
    // The response body can fail after these headers are set.
    for (const name of CLIENT_HEADERS) reply.removeHeader(name)
    reply.headers({ 'cache-control': 'no-store', 'content-security-policy': API_POLICY })
    throw error
  })
  const options = {
    upstream: upstream.baseUrl,
    prefix: MOUNT,
    handler: createHandler(scope, upstream, publicRoutes),
  }
  for (const { method, url, schema } of routes) {
    await scope.register(async (inner) => {
      inner.addHook('onRoute', (route) => {
        route.schema = schema
      })
      await inner.register(httpProxy, { ...options, routes: [url], httpMethods: [method] })
    })
  }
  await scope.register(httpProxy, { ...options, httpMethods: PROXY_METHODS })
}

/** The query as received, with its question mark. */
const getQuery = (url: string): string => (url.includes('?') ? url.slice(url.indexOf('?')) : '')

/** Creates the error response that guests receive instead of the provider's own. */
function createGuestProblem({ statusCode, headers }: UpstreamResponse): Problem {
  const retryAfter = headers['retry-after'] ?? ''
  return new Problem(statusCode, 'The order source returned an error.', {
    headers: /^\d{1,9}$/.test(retryAfter) ? { 'retry-after': retryAfter } : {},
  })
}

function redactStream(body: Readable, redactor: SecretRedactor): Readable {
  const redacted = redactor.createStream()
  finished(body, (error) => {
    if (error) redacted.destroy(toBodyError(error))
  })
  redacted.on('close', () => body.destroy())
  return body.pipe(redacted)
}

/**
 * Forwards requests that @fastify/http-proxy has matched. The plugin also rewrites the path, and
 * rejects paths that escape the base path.
 */
function createHandler(scope: FastifyInstance, upstream: Upstream, publicRoutes: PublicRoutes) {
  const readAsGuest = createGuestReader(upstream)
  const redactor = createSecretRedactor(upstream.token)
  /** Number of requests that are waiting for a response */
  let waiting = 0

  const isAdministrator = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> =>
    request.principal !== null ||
    scope.requireAdministrator.call(scope, request, reply).then(
      () => true,
      () => false,
    )

  return async (request: FastifyRequest, reply: FastifyReply, path: string) => {
    const { method, url, body, originalUrl } = request
    const isRead = method === 'GET' || method === 'HEAD'
    const isGuestRead = request.isPublicRoute && isRead && !(await isAdministrator(request, reply))
    waiting++
    const response = await (
      isGuestRead
        ? readAsGuest(toGuestPath(publicRoutes, originalUrl))
        : upstream.request({
            method,
            path: (path || '/') + getQuery(url),
            headers: toUpstreamHeaders(request, upstream.token),
            body: body instanceof Readable ? body : undefined,
            caller: reply.raw,
          })
    ).finally(() => waiting--)
    // Responses that arrive in the same tick are sent together; this raises throughput by a fifth.
    if (waiting > 0) await setImmediate()
    if (hasContentEncoding(response.headers)) {
      // An encoded body cannot be redacted.
      if (response.body instanceof Readable) response.body.destroy()
      throw new UpstreamError('invalid_response', { reason: 'content-encoding', wasSent: true })
    }
    if (response.statusCode >= 400 && (isGuestRead || !(await isAdministrator(request, reply)))) {
      throw createGuestProblem(response)
    }
    reply.code(response.statusCode).headers(toClientHeaders(response, request, redactor))
    if (response.body instanceof Readable) return reply.send(redactStream(response.body, redactor))
    // Fastify would set the Content-Length of a HEAD response without a body to 0.
    if (method === 'HEAD') return reply.send(Readable.from([]))
    return reply.send(response.body && redactor.redactBytes(response.body))
  }
}
