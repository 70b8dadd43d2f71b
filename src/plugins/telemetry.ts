import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { timingSafeEqualText } from '../http/timing-safe-equal.js'
import { isLoopback } from '../http/loopback.js'
import { Problem } from '../http/problem.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Where features register their metrics */
    metrics: Registry
    /** What `/readyz` asks, by name; a feature adds what it depends on */
    readiness: Map<string, ReadinessCheck>
  }
}

export interface Readiness {
  ready: boolean
  detail: string
}

/**
 * Tells the state of something the service depends on; not ready means no traffic, please. Of what
 * it throws, a Problem says why.
 */
export type ReadinessCheck = () => Promise<Readiness>

/**
 * Log settings that hold before the configuration is read. No entry of ours has a secret; the
 * redaction is for what libraries hang on their errors. Paths without wildcards, as those cost
 * a tenth of a request.
 */
export const loggerOptions = {
  redact: {
    paths: ['', 'err.', 'err.headers.', 'err.options.headers.', 'err.request.headers.'].flatMap(
      (place) => ['authorization', 'cookie', 'password', 'token'].map((name) => place + name),
    ),
    censor: '[redacted]',
  },
}

const LONGEST_LOGGED_PATH = 200

// The query stays out: it holds people's names, and signatures.
function pathOf({ originalUrl }: FastifyRequest): string {
  const query = originalUrl.indexOf('?')
  const end = query === -1 ? LONGEST_LOGGED_PATH : Math.min(query, LONGEST_LOGGED_PATH)
  return originalUrl.slice(0, end)
}

/** One log entry and one measurement for each request; health, readiness and metrics routes. */
export default fp(
  async (app) => {
    const metrics = new Registry()
    collectDefaultMetrics({ register: metrics })
    const durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to answer, by route',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [metrics],
    })
    app.decorate('metrics', metrics)
    app.decorate('readiness', new Map())

    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      // The end of the answer, not Fastify's onResponse: that one stays away where a client
      // goes before a compressed stream has ended.
      reply.raw.once('close', () => {
        const { statusCode, elapsedTime } = reply
        const { method } = request
        const route = request.routeOptions.url ?? 'none'
        durations.observe({ method, route, status: statusCode }, elapsedTime / 1000)
        const milliseconds = Math.round(elapsedTime * 100) / 100
        const entry = { method, path: pathOf(request), status: statusCode, milliseconds }
        const isWhole = reply.raw.writableFinished
        request.log.info(isWhole ? entry : { ...entry, aborted: true }, 'request')
      })
      done()
    })

    const unlimited = { config: { rateLimit: false, isVital: true } } as const

    app.get('/healthz', unlimited, async () => ({ status: 'alive' }))

    app.get('/readyz', unlimited, async (_request, reply) => {
      const checks = await Promise.all(
        [...app.readiness].map(async ([name, check]) => [name, await settled(check)] as const),
      )
      const ready = checks.every(([, state]) => state.ready)
      return reply
        .code(ready ? 200 : 503)
        .send({ status: ready ? 'ready' : 'not ready', checks: Object.fromEntries(checks) })
    })

    app.get('/metrics', unlimited, async (request, reply) => {
      const { METRICS_TOKEN } = app.config
      if (METRICS_TOKEN === undefined) {
        if (!isFromThisMachine(request)) {
          throw new Problem(403, 'Without METRICS_TOKEN, only this machine may read the metrics.')
        }
      } else if (!timingSafeEqualText(bearerToken(request) ?? '', METRICS_TOKEN)) {
        throw new Problem(401, 'The metrics are read with their token.', {
          headers: { 'www-authenticate': 'Bearer' },
        })
      }
      return reply.type(metrics.contentType).send(await metrics.metrics())
    })
  },
  { name: 'telemetry', dependencies: ['config'] },
)

async function settled(check: ReadinessCheck): Promise<Readiness> {
  try {
    return await check()
  } catch (error) {
    return { ready: false, detail: error instanceof Problem ? error.message : 'the check failed' }
  }
}

const bearerToken = ({ headers }: FastifyRequest): string | undefined =>
  /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1]

const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

// A proxy on this machine also calls from loopback, on behalf of the world; most say so.
function isFromThisMachine({ headers, socket }: FastifyRequest): boolean {
  const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  return isLoopback(address) && FORWARDING_HEADERS.every((name) => headers[name] === undefined)
}
