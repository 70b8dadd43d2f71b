import { Histogram, type Registry } from 'prom-client'
import { Pool, type Dispatcher } from 'undici'
import { isUnsafeMethod } from '../http/fetch-metadata.js'
import { parseBaseUrl } from './base-url.js'
import { createCircuitBreaker, type CircuitBreaker, type CircuitState } from './circuit-breaker.js'
import { UpstreamRequest } from './upstream-request.js'
import { UpstreamFailure } from './upstream-failure.js'
import { createRequestCoalescer, type RequestCoalescer } from './request-coalescing.js'

/** The order source as all calls of it share it: its connections, and what is known of its state. */
export interface Upstream {
  /** What all addresses begin with, without a slash at the end */
  readonly baseUrl: string
  /** The path in it; empty where it has none */
  readonly basePath: string
  readonly token: string
  /** Within this time each call has ended, ms; the body of what is relayed may take longer */
  readonly longestCallMs: number
  /** Sends calls; each ends with an answer or an OrderSourceFailure, within its time. */
  readonly dispatcher: Dispatcher
  /** Sends calls likewise, and of questions that are the same at the same moment one. */
  readonly request: RequestCoalescer['request']
  /** Why nothing is sent at the moment, for a few seconds; `null` where calls go out. */
  restingFailure(): UpstreamFailure | null
  /** Whether it answers, as far as the calls so far tell */
  state(): CircuitState
  close(): Promise<void>
}

interface Settings {
  ORDERSOURCE_BASE_URL?: string
  ORDERSOURCE_API_TOKEN?: string
  ORDERSOURCE_TIMEOUT_MS: number
}

const MOST_CONNECTIONS = 64
const MOST_ANSWER_BYTES = 100 * 1024 * 1024
const MOST_HEADER_BYTES = 16 * 1024
/** The HTTP client's timers are early by as much, or late. */
const CLIENT_TICK_MS = 500
/** A body may come slowly, but not for ever: all of a call may take this many time-outs. */
const WHOLE_TIMEOUTS = 6

const GROUPS = ['portfolios', 'offset-orders']

/** The part of the order source that a path is of, one of few. */
function groupOf(path: string, basePath: string): string {
  const start = basePath.length + 1
  for (const group of GROUPS) {
    const follows = path.charAt(start + group.length)
    if (path.startsWith(group, start) && !/[\w-]/.test(follows)) return group
  }
  return 'other'
}

function poolOptions(timeoutMs: number): Pool.Options {
  // Each exchange watches over the beginning of its answer itself, and is first.
  const latestMs = timeoutMs + CLIENT_TICK_MS
  return {
    connections: MOST_CONNECTIONS,
    // The environment cannot switch it off; further authorities come by NODE_EXTRA_CA_CERTS.
    connect: { rejectUnauthorized: true, timeout: timeoutMs },
    // Where both are the same, the timer is made while the order source works, and is only put off
    // when its answer begins: nobody waits for it.
    headersTimeout: latestMs,
    bodyTimeout: latestMs,
    maxHeaderSize: MOST_HEADER_BYTES,
    maxResponseSize: MOST_ANSWER_BYTES,
  }
}

const resting = (breaker: CircuitBreaker): UpstreamFailure =>
  new UpstreamFailure('resting', { headers: { 'retry-after': String(breaker.retryAfter()) } })

/** Opens what all calls of the order source go through; `null` where it is not configured. */
export function openUpstream(settings: Settings, metrics: Registry): Upstream | null {
  const { ORDERSOURCE_BASE_URL, ORDERSOURCE_API_TOKEN: token, ORDERSOURCE_TIMEOUT_MS } = settings
  const baseUrl = parseBaseUrl(ORDERSOURCE_BASE_URL ?? '')
  if (baseUrl === null || token === undefined) return null

  const { origin, pathname } = new URL(baseUrl)
  const basePath = pathname.replace(/\/$/, '')
  const breaker = createCircuitBreaker()
  const durations = new Histogram({
    name: 'clearwake_order_source_seconds',
    help: 'Time that calls of the order source took, by part of it and outcome',
    labelNames: ['route', 'outcome'] as const,
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [metrics],
  })
  const options = poolOptions(ORDERSOURCE_TIMEOUT_MS)
  const kept = new Pool(origin, options)
  // What must not be sent twice gets a connection of its own: one kept open may have been closed
  // on the other side just now, and then nobody can tell whether the request arrived.
  const fresh = new Pool(origin, { ...options, pipelining: 0 })

  const longestCallMs = WHOLE_TIMEOUTS * ORDERSOURCE_TIMEOUT_MS
  const dispatcher: Dispatcher = kept.compose((dispatch) => (call, handler) => {
    const mayChange = isUnsafeMethod(call.method)
    const send = mayChange ? fresh.dispatch.bind(fresh) : dispatch
    const route = groupOf(call.path, basePath)
    new UpstreamRequest(
      {
        breaker,
        timeoutMs: ORDERSOURCE_TIMEOUT_MS,
        wholeTimeoutMs: longestCallMs,
        mostAnswerBytes: MOST_ANSWER_BYTES,
        onOutcome: () => {
          if (mayChange) shared.forget()
        },
        onEnd: (outcome, seconds) => durations.observe({ route, outcome }, seconds),
      },
      call,
      // A body may take longer to be sent than an answer to begin.
      (exchange) => send(call.body ? { ...call, headersTimeout: 0 } : call, exchange),
      handler,
    )
    return true
  })
  const shared = createRequestCoalescer(dispatcher)

  return {
    baseUrl,
    basePath,
    token,
    longestCallMs,
    dispatcher,
    request: shared.request,
    restingFailure: () => (breaker.isOpen() ? resting(breaker) : null),
    state: () => breaker.state(),
    async close() {
      await Promise.all([kept.destroy(), fresh.destroy()])
    },
  }
}
