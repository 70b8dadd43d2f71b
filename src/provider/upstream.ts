import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram, type Registry } from 'prom-client'
import { Pool, type Dispatcher } from 'undici'
import type { Config } from '../core/config/config.js'
import { isUnsafeMethod } from '../core/http/fetch-metadata.js'
import { Problem } from '../core/http/problem.js'
import { parseBaseUrl } from './paths.js'
import {
  bufferSmallBody,
  isBodiless,
  isConnectionError,
  MAX_BUFFERED_BYTES,
  toBodyError,
  toUpstreamError,
  UpstreamError,
  type UpstreamResponse,
} from './upstream-response.js'

/** Number of consecutive failures that opens the circuit. */
const MAX_FAILURES = 5
const OPEN_MS = 3_000

/** State of the provider according to the requests so far. */
type ProviderState = 'no requests yet' | 'reachable' | 'unreachable'

/**
 * Rejects requests for a while after consecutive failures; then allows one probe at a time. Every
 * allowed request must report its result: `succeeded`, `failed`, or `release` if the result does
 * not depend on the provider.
 */
export function createCircuitBreaker() {
  let state: ProviderState = 'no requests yet'
  let failures = 0
  let openUntil = 0
  let isProbing = false

  return {
    state: () => state,
    allowRequest(): boolean {
      if (failures < MAX_FAILURES) return true
      if (isProbing || performance.now() < openUntil) return false
      isProbing = true
      return true
    },
    succeeded(): void {
      state = 'reachable'
      failures = 0
      isProbing = false
    },
    failed(): void {
      state = 'unreachable'
      failures++
      isProbing = false
      openUntil = performance.now() + OPEN_MS
    },
    release(): void {
      isProbing = false
    },
    /** Seconds until the next request is allowed, at least 1 */
    retryAfter: () => Math.max(1, Math.ceil((openUntil - performance.now()) / 1000)),
  }
}

type CircuitBreaker = ReturnType<typeof createCircuitBreaker>

interface UpstreamRequest {
  method: string
  /** Including the base path */
  path: string
  headers: IncomingHttpHeaders
  body?: Readable | undefined
  /** The request is cancelled when this closes */
  caller?: Writable | undefined
}

/** Emits `abort` once, as undici expects. This is far cheaper than an AbortSignal. */
class RequestSignal extends EventEmitter {
  reason: Problem | undefined

  abort(reason: Problem): void {
    if (this.reason !== undefined) return
    this.reason = reason
    this.emit('abort')
  }
}

/**
 * Starts the time limits of a request, and cancels the request when its caller disconnects.
 *
 * @param timeoutMs until the response starts, counted from when the request body is sent
 * @param maxRequestMs for the whole request
 */
function startTimeLimits(
  { body, caller }: UpstreamRequest,
  timeoutMs: number,
  maxRequestMs: number,
) {
  const signal = new RequestSignal()

  const onTimeout = () => {
    const isCallerSlow = body !== undefined && !body.readableEnded && body.readableLength === 0
    const wasSent = body?.readableDidRead === true
    signal.abort(
      isCallerSlow
        ? new Problem(408, 'The body was sent too slowly.')
        : new UpstreamError('timeout', { wasSent }),
    )
  }
  const onDisconnect = () => signal.abort(new UpstreamError('cancelled'))

  let responseTimer: NodeJS.Timeout | undefined
  const startResponseTimer = () => {
    responseTimer = setTimeout(onTimeout, timeoutMs)
  }
  const requestTimer = setTimeout(onTimeout, maxRequestMs)
  if (body === undefined) startResponseTimer()
  else body.once('end', startResponseTimer)
  const exceeded = new Promise<never>((_resolve, reject) => {
    signal.once('abort', () => reject(signal.reason ?? new UpstreamError('cancelled')))
  })
  if (caller?.closed) onDisconnect()
  else caller?.once('close', onDisconnect)

  function responseStarted() {
    clearTimeout(responseTimer)
    body?.off('end', startResponseTimer)
  }

  return {
    signal,
    /** Rejects on a timeout or a disconnect, even while the request waits for a connection. */
    exceeded,
    responseStarted,
    stop() {
      responseStarted()
      clearTimeout(requestTimer)
      caller?.off('close', onDisconnect)
    },
  }
}

type Settings = Pick<
  Config,
  'ORDERSOURCE_BASE_URL' | 'ORDERSOURCE_API_TOKEN' | 'ORDERSOURCE_TIMEOUT_MS'
>

const MAX_CONNECTIONS = 64
const MAX_RESPONSE_BYTES = 100 * 1024 * 1024
const MAX_HEADER_BYTES = 16 * 1024
/** Time limit of a whole request, as a multiple of ORDERSOURCE_TIMEOUT_MS. */
const MAX_TIMEOUTS = 6
/** Resolution of undici's timers, ms. */
const TIMER_RESOLUTION_MS = 500
const RETRY_DELAY_MS = 50

/** Metrics count requests by these parts of the API. */
const ROUTE = /^\/(portfolios|offset-orders)(?![\w-])/

const createPoolOptions = (timeoutMs: number): Pool.Options => ({
  connections: MAX_CONNECTIONS,
  // Explicit, so that no environment variable can disable it. NODE_EXTRA_CA_CERTS adds authorities.
  connect: { rejectUnauthorized: true, timeout: timeoutMs },
  // Replaced by startTimeLimits, because it ignores the time in the queue and interim responses.
  headersTimeout: 0,
  bodyTimeout: timeoutMs + TIMER_RESOLUTION_MS,
  maxHeaderSize: MAX_HEADER_BYTES,
  maxResponseSize: MAX_RESPONSE_BYTES,
})

/** Why a response must not be forwarded; `null` if it can be forwarded. */
function checkResponse({ statusCode, headers }: Dispatcher.ResponseData): UpstreamError | null {
  if (statusCode === 401) return new UpstreamError('token_rejected', { wasSent: true })
  if ((statusCode >= 300 && statusCode < 400 && statusCode !== 304) || statusCode > 599) {
    return new UpstreamError('invalid_response', { reason: String(statusCode), wasSent: true })
  }
  return Number(headers['content-length'] ?? 0) > MAX_RESPONSE_BYTES
    ? new UpstreamError('too_large', { wasSent: true })
    : null
}

const getOutcome = (error: Problem): string =>
  error instanceof UpstreamError ? error.code : 'invalid_request'

/** Reports that a request got no response. The provider is not the cause of every such failure. */
function reportFailure(breaker: CircuitBreaker, outcome: string): void {
  if (['cancelled', 'connection_closed', 'invalid_request'].includes(outcome)) breaker.release()
  else breaker.failed()
}

/**
 * Converts an error that occurred before the response. A provider may reject a long body by closing
 * the connection.
 */
function toRequestError(error: unknown, { body, headers }: UpstreamRequest): Problem {
  const wasSent = body?.readableDidRead === true
  const isLong = Number(headers['content-length'] ?? Infinity) > MAX_BUFFERED_BYTES
  return wasSent && isLong && isConnectionError(error)
    ? new UpstreamError('connection_closed', { wasSent })
    : toUpstreamError(error, wasSent)
}

/**
 * Opens the connection to the order source, shared by everything that uses it; `null` if it is not
 * configured.
 */
export function openUpstream(settings: Settings, metrics: Registry) {
  const { ORDERSOURCE_API_TOKEN: token, ORDERSOURCE_TIMEOUT_MS: timeoutMs } = settings
  const baseUrl = parseBaseUrl(settings.ORDERSOURCE_BASE_URL ?? '')
  if (baseUrl === null || token === undefined) return null

  const { origin, pathname } = new URL(baseUrl)
  const basePath = pathname.replace(/\/$/, '')
  const maxRequestMs = MAX_TIMEOUTS * timeoutMs
  const breaker = createCircuitBreaker()
  const durations = new Histogram({
    name: 'clearwake_order_source_request_duration_seconds',
    help: 'Duration of requests to the order source, by part of its API and outcome',
    labelNames: ['route', 'outcome'] as const,
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [metrics],
  })
  const pool = new Pool(origin, createPoolOptions(timeoutMs))
  // A request that must not be repeated gets a new connection. The provider may be closing an idle
  // connection, and then it would be unknown whether the request arrived.
  const unpooled = new Pool(origin, { ...createPoolOptions(timeoutMs), pipelining: 0 })

  async function sendWithRetry(request: UpstreamRequest, signal: RequestSignal) {
    const { method, path, headers, body = null } = request
    const options = { method, path, headers, body, signal }
    if (isUnsafeMethod(method)) return unpooled.request(options)
    try {
      return await pool.request(options)
    } catch (error) {
      if (method === 'OPTIONS' || signal.reason || !isConnectionError(error)) throw error
      await sleep(RETRY_DELAY_MS * (1 + Math.random()))
      return pool.request(options)
    }
  }

  /** Sends a request and resolves when the response starts. */
  async function send(request: UpstreamRequest): Promise<Dispatcher.ResponseData> {
    const [, route = 'other'] = ROUTE.exec(request.path.slice(basePath.length)) ?? []
    const stopTimer = durations.startTimer({ route })
    if (!breaker.allowRequest()) {
      stopTimer({ outcome: 'circuit_open' })
      throw new UpstreamError('circuit_open', {
        headers: { 'retry-after': String(breaker.retryAfter()) },
      })
    }
    const limits = startTimeLimits(request, timeoutMs, maxRequestMs)
    const finish = (outcome: string) => {
      limits.stop()
      stopTimer({ outcome })
    }
    let response: Dispatcher.ResponseData
    try {
      response = await Promise.race([sendWithRetry(request, limits.signal), limits.exceeded])
    } catch (error) {
      const failure = toRequestError(error, request)
      reportFailure(breaker, getOutcome(failure))
      finish(getOutcome(failure))
      throw failure
    }
    breaker.succeeded()
    limits.responseStarted()
    const { body, statusCode } = response
    const failure = checkResponse(response)
    if (failure !== null) {
      body.on('error', () => undefined).destroy()
      finish(failure.code)
      throw failure
    }
    body
      .on('error', () => undefined)
      .once('close', () => {
        const isInterrupted = body.errored !== null && !isBodiless(request.method, statusCode)
        const statusClass = `${Math.floor(statusCode / 100)}xx`
        finish(isInterrupted ? getOutcome(toBodyError(body.errored)) : statusClass)
      })
    return response
  }

  return {
    /** Without a trailing slash */
    baseUrl,
    basePath,
    token,
    /** Every request ends within this time, including its response body, ms */
    maxRequestMs,
    /** Sends a request. Throws a Problem, usually an UpstreamError. */
    request: async (request: UpstreamRequest): Promise<UpstreamResponse> =>
      bufferSmallBody(request.method, await send(request)),
    state: () => breaker.state(),
    async close(): Promise<void> {
      await Promise.all([pool.destroy(), unpooled.destroy()])
    },
  }
}

export type Upstream = NonNullable<ReturnType<typeof openUpstream>>
