import { randomFill } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Counter } from 'prom-client'
import { buildErrorPage } from '../html/error-page.js'
import { HTML } from '../html/views.js'
import { Problem } from '../http/problem.js'
import { isApiPath } from '../http/request-path.js'
import { createAdmissionQueue } from './admission-queue.js'

const PROBE_INTERVAL_MS = 20
const TICK_MS = 5
/** If there were fewer ticks during a probe, the main thread caused the delay, not the pool. */
const MIN_TICKS = 3

/**
 * Measures how long jobs wait for a thread of libuv's pool, which compresses responses and hashes
 * passwords. The returned function returns the delay in ms; each call may start a probe.
 */
function createThreadPoolMonitor(): () => number {
  const buffer = new Uint8Array(1)
  let lastDelayMs = 0
  let ticks = 0
  let start = -PROBE_INTERVAL_MS
  let isProbing = false

  const getElapsedMs = (): number => (ticks < MIN_TICKS ? 0 : performance.now() - start)

  function probe(): void {
    start = performance.now()
    ticks = 0
    isProbing = true
    const ticker = setInterval(() => ticks++, TICK_MS)
    ticker.unref()
    randomFill(buffer, () => {
      clearInterval(ticker)
      lastDelayMs = getElapsedMs()
      isProbing = false
    })
  }

  return () => {
    if (!isProbing && performance.now() - start >= PROBE_INTERVAL_MS) probe()
    return isProbing ? Math.max(lastDelayMs, getElapsedMs()) : lastDelayMs
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is served even under overload; set for monitoring routes */
    bypassLoadShedding?: boolean
  }
}

const RETRY_AFTER_SECONDS = 5

/** Placeholder for the request ID in a cached page. */
const ID_PLACEHOLDER = 'request-id'

const createOverloadProblem = (): Problem =>
  new Problem(503, 'The service is busy. Try again in a few seconds.', {
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })

/**
 * Rejects requests that cannot be served within SHED_AFTER_MS, before anything else processes them,
 * because a rejection must cost far less than a response.
 */
export default fp(
  async (app) => {
    const { SHED_AFTER_MS } = app.config
    const getPoolDelayMs = createThreadPoolMonitor()
    const queue = createAdmissionQueue({
      maxWaitMs: SHED_AFTER_MS,
      hasCapacity: () => getPoolDelayMs() < SHED_AFTER_MS / 3,
    })
    const shedRequests = new Counter({
      name: 'clearwake_shed_requests_total',
      help: 'Requests rejected because the service was overloaded',
      registers: [app.metrics],
    })

    const pages = new Map<string, string>()
    /** Renders the rejection as a page or fragment; each variant is rendered once. */
    async function renderRejection(problem: Problem, request: FastifyRequest): Promise<string> {
      const { views, data } = buildErrorPage(problem, request)
      const view = request.wantsFragment ? views.fragment : views.page
      const variant = `${view} ${'wasSubmitted' in data && data.wasSubmitted}`
      let page = pages.get(variant)
      if (page === undefined) {
        const requestId = data.requestId === null ? null : ID_PLACEHOLDER
        page = await app.view(view, { ...data, requestId, retry: null })
        pages.set(variant, page)
      }
      return page.replace(ID_PLACEHOLDER, request.id)
    }

    async function reject(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      shedRequests.inc()
      const problem = createOverloadProblem()
      void reply.code(problem.statusCode).headers(problem.headers)
      if (isApiPath(request.url)) {
        await reply
          .type('application/problem+json')
          .serializer(JSON.stringify)
          .send(problem.details(request.id))
        return
      }
      void reply.headers({
        // Prevents compression of the response.
        'content-encoding': 'identity',
        'cache-control': 'no-store',
        vary: 'Accept-Language, HX-Request, HX-Request-Type',
      })
      try {
        const page = await renderRejection(problem, request)
        await reply.type(HTML).send(page)
      } catch (error) {
        request.log.error({ err: error }, 'the overload page cannot be rendered')
        await reply.type('text/plain; charset=utf-8').send(problem.message)
      }
    }

    app.addHook('onRequest', (request, reply, done) => {
      if (request.routeOptions.config.bypassLoadShedding) done()
      else queue.enqueue(done, () => void reject(request, reply))
    })
  },
  { name: 'load-shedding', dependencies: ['config', 'telemetry'] },
)
