import { randomUUID } from 'node:crypto'
import type { FastifyRequest, FastifyServerOptions } from 'fastify'
import fp from 'fastify-plugin'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

declare module 'fastify' {
  interface FastifyInstance {
    /** Where features register their metrics */
    metrics: Registry
    /** Readiness checks of `/readyz`, by name; each feature adds its dependencies */
    readiness: Map<string, ReadinessCheck>
  }
}

export interface Readiness {
  ready: boolean
  /** Set if the service works, but something needs attention */
  degraded?: boolean
  detail: string
}

/**
 * Checks a dependency. If it is not ready, the service should receive no traffic. If the check
 * throws a Problem, the message of the Problem is reported.
 */
export type ReadinessCheck = () => Promise<Readiness>

/**
 * Logger options. Our own entries contain no secrets. The redaction covers properties that
 * libraries attach to their errors. The paths have no wildcards, which would take 10% of the
 * request time.
 */
export const loggerOptions = {
  redact: {
    paths: ['', 'err.', 'err.headers.', 'err.options.headers.', 'err.request.headers.'].flatMap(
      (place) => ['authorization', 'cookie', 'password', 'token'].map((name) => place + name),
    ),
    censor: '[redacted]',
  },
}

const MAX_LOGGED_PATH_LENGTH = 200

/**
 * The token of a guest's order, of an invitation or of a password reset, or the code of a
 * certificate. None of them may be logged.
 */
const TOKEN = /^(\/+(?:[oc]|admin\/+(?:invitation|password-reset))\/+)[^/?]+/i

/** Percent-encoded paths must not hide a token. */
const decodeAscii = (path: string): string =>
  path.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))

// Without the query, which can contain names and signatures.
function getLoggedPath({ originalUrl }: FastifyRequest): string {
  const query = originalUrl.indexOf('?')
  const end = query === -1 ? MAX_LOGGED_PATH_LENGTH : Math.min(query, MAX_LOGGED_PATH_LENGTH)
  const path = originalUrl.slice(0, end)
  const decoded = path.includes('%') ? decodeAscii(path) : path
  return TOKEN.test(decoded) ? decoded.replace(TOKEN, '$1[token]') : path
}

/** Request log and duration metric. */
export default fp(
  async (app) => {
    const metrics = new Registry()
    collectDefaultMetrics({ register: metrics })
    const durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Request duration by method, route and status',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [metrics],
    })
    app.decorate('metrics', metrics)
    app.decorate('readiness', new Map())

    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      // Not onResponse, which is not called if the client disconnects during a compressed stream.
      reply.raw.once('close', () => {
        const { statusCode, elapsedTime } = reply
        const { method } = request
        const route = request.routeOptions.url ?? 'none'
        durations.observe({ method, route, status: statusCode }, elapsedTime / 1000)
        const responseTime = Math.round(elapsedTime * 100) / 100
        const entry = { method, path: getLoggedPath(request), statusCode, responseTime }
        const isComplete = reply.raw.writableFinished
        request.log.info(isComplete ? entry : { ...entry, aborted: true }, 'request')
      })
      done()
    })
  },
  { name: 'telemetry', dependencies: ['config'] },
)

const VALID_ID = /^[\w.-]{1,64}$/

/**
 * Returns the caller's `x-request-id`, so that a request can be traced across services. If it is
 * missing or invalid, returns a new UUID.
 */
export const genReqId: NonNullable<FastifyServerOptions['genReqId']> = ({ headers }) => {
  const id = headers['x-request-id']
  return typeof id === 'string' && VALID_ID.test(id) ? id : randomUUID()
}
