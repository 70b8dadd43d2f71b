import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Counter } from 'prom-client'
import { isApiPath } from '../http/request-path.js'
import { buildErrorPage } from '../http/error-page.js'
import { HTML } from './htmx.js'
import { Problem } from '../http/problem.js'
import { createThreadPoolMonitor } from '../http/thread-pool-delay.js'
import { createAdmissionQueue } from '../http/admission-queue.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered however much there is to do, as what watches over the service asks it */
    isVital?: boolean
  }
}

const RETRY_AFTER_SECONDS = 5
const LOGGED_EVERY_MS = 10_000

/** Stands in a page where the id of the request goes. */
const ID_MARK = 'request-id'

/** 503: everybody would wait ever longer otherwise. */
const tooMuch = (): Problem =>
  new Problem(503, 'Too much is asked of the service at the moment: try again in a few seconds.', {
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })

/**
 * Refuses what cannot be served in time, before anything else looks at it: a refusal must cost far
 * less than an answer.
 */
export default fp(
  async (app) => {
    const { SHED_AFTER_MS } = app.config
    const poolDelay = createThreadPoolMonitor()
    const line = createAdmissionQueue({
      patienceMs: SHED_AFTER_MS,
      hasRoom: () => poolDelay() < SHED_AFTER_MS / 3,
    })
    const refused = new Counter({
      name: 'clearwake_shed_requests_total',
      help: 'Requests refused as there was too much to do',
      registers: [],
    })
    app.addHook('onReady', async () => app.metrics.registerMetric(refused))

    let unlogged = 0
    let logged = -LOGGED_EVERY_MS
    /** One log entry for many, as writing them all would be more to do. */
    function note({ log }: FastifyRequest): void {
      refused.inc()
      unlogged++
      const now = performance.now()
      if (now - logged < LOGGED_EVERY_MS) return
      log.warn({ requests: unlogged }, 'requests refused: more is asked than can be served')
      unlogged = 0
      logged = now
    }

    const pages = new Map<string, Promise<string>>()
    /** The refusal as a page or a fragment: of each kind one is made, and used for all. */
    async function pageOf(problem: Problem, request: FastifyRequest): Promise<string> {
      const { views, data } = buildErrorPage(problem, request)
      const view = request.wantsFragment ? views.fragment : views.page
      const kind = `${view} ${'wasSent' in data && data.wasSent}`
      const requestId = data.requestId === null ? null : ID_MARK
      const made = pages.get(kind) ?? app.view(view, { ...data, requestId, retry: null })
      pages.set(kind, made)
      return (await made).replace(ID_MARK, request.id)
    }

    async function refuse(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      const problem = tooMuch()
      reply.code(problem.statusCode).headers(problem.headers).header('x-request-id', request.id)
      if (isApiPath(request.url)) {
        return reply
          .type('application/problem+json')
          .serializer(JSON.stringify)
          .send(problem.details(request.id))
      }
      return reply
        .headers({
          // Named, so that it is not compressed.
          'content-encoding': 'identity',
          'cache-control': 'no-store',
          vary: 'HX-Request, HX-Request-Type',
        })
        .type(HTML)
        .send(await pageOf(problem, request))
    }

    app.addHook('onRequest', (request, reply, done) => {
      if (request.routeOptions.config.isVital) {
        done()
        return
      }
      line.join(done, () => {
        note(request)
        void refuse(request, reply)
      })
    })
  },
  { name: 'load-shedding', dependencies: ['config'] },
)
