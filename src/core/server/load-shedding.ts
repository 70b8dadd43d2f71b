import { randomFill } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Counter } from 'prom-client'
import { buildErrorPage, HTML } from '../html/views.js'
import { Problem } from '../http/problem.js'
import { isApiPath } from '../http/request-path.js'

interface QueuedRequest {
  since: number
  serve: () => void
  reject: () => void
}

interface Options {
  maxWaitMs: number
  /** Whether another request can be served now */
  hasCapacity: () => boolean
}

/** Requests served per tick of the event loop, adapted to how long ticks take. */
const [MIN_BATCH, MAX_BATCH] = [2, 64]
/** A longer tick halves the batch. */
const LONG_TICK_MS = 10
/** Time budget for serving or rejecting within one tick. */
const TICK_BUDGET_MS = 1
const CAPACITY_POLL_MS = 5
/** An event loop that was idle for this long had nothing left to do. */
const IDLE_MS = 0.02

/**
 * Creates a function to call for each request: it returns whether this request and the previous one
 * each arrived alone, after the event loop was idle.
 */
function createLoneArrivalDetector(): () => boolean {
  let totalIdleMs = 0
  let arrivalsSinceIdle = 0
  return () => {
    const idleMs = performance.nodeTiming.idleTime - totalIdleMs
    totalIdleMs += idleMs
    if (idleMs < IDLE_MS) {
      arrivalsSinceIdle++
      return false
    }
    const previous = arrivalsSinceIdle
    arrivalsSinceIdle = 1
    return previous === 1
  }
}

/**
 * FIFO admission queue: serves a bounded batch per tick and rejects requests that have waited
 * longer than `maxWaitMs`. Requests that arrive in the same tick are served together, which about
 * doubles the throughput of short responses, and the event loop accepts new connections between
 * batches. A request that arrives alone is served immediately.
 */
export function createAdmissionQueue({ maxWaitMs, hasCapacity }: Options) {
  const queue: QueuedRequest[] = []
  const arrivesAlone = createLoneArrivalDetector()
  let batchSize = MIN_BATCH

  function rejectExpired(): void {
    const start = performance.now()
    while (queue[0] !== undefined && start - queue[0].since > maxWaitMs) {
      queue.shift()?.reject()
      if (performance.now() - start >= TICK_BUDGET_MS) return
    }
  }

  function adaptBatchSize(tickMs: number): void {
    if (tickMs > LONG_TICK_MS) batchSize = Math.max(MIN_BATCH, batchSize >> 1)
    else batchSize = Math.min(MAX_BATCH, batchSize + 1)
  }

  function processBatch(): void {
    rejectExpired()
    const start = performance.now()
    let served = 0
    while (served < batchSize && queue.length > 0 && hasCapacity()) {
      served++
      queue.shift()?.serve()
      if (performance.now() - start >= TICK_BUDGET_MS) break
    }
    if (queue.length === 0) return
    if (served === 0) {
      setTimeout(processBatch, CAPACITY_POLL_MS)
      return
    }
    setImmediate(() => {
      adaptBatchSize(performance.now() - start)
      processBatch()
    })
  }

  return {
    /** Calls `serve` or `reject` in turn, possibly immediately. */
    enqueue(serve: () => void, reject: () => void): void {
      const isAlone = arrivesAlone()
      if (isAlone && queue.length === 0 && hasCapacity()) {
        serve()
        return
      }
      queue.push({ since: performance.now(), serve, reject })
      if (queue.length === 1) setImmediate(processBatch)
    },
  }
}

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
