import { Agent, request } from 'undici'
import { Problem } from '../core/http/problem.js'
import { getOwn, isObject, parseJson } from '../core/validation/formats.js'
import { getErrorCode } from '../database/database.js'
import { createBackOff, createRequestBudget, type Priority } from './request-budget.js'
import { createNotSavedProblem, RETRY_AFTER_FIX_S } from './sync-state.js'

const MESSAGES = {
  /** No connection: the request was not sent */
  unreachable: 'NocoDB cannot be reached',
  /** The response did not arrive in time, or it is incomplete */
  no_response: 'NocoDB is not responding',
  /** Status 500 and above */
  server_error: 'NocoDB returned a server error',
  /** A response that is not from NocoDB, such as a proxy's error page */
  invalid_response: 'the response is not from NocoDB',
  response_too_large: 'the response from NocoDB is too large',
  /** The request rate exceeds NocoDB's limit or our own */
  rate_limited: 'the NocoDB rate limit was exceeded',
  unauthorized: 'NocoDB rejected the API token (DATABASE_API_KEY)',
  table_not_found: 'NocoDB base or table not found (DATABASE_BASE_ID, DATABASE_ORDERS_TABLE_ID)',
  record_not_found: 'NocoDB record not found',
  column_not_found: 'a column is missing from the NocoDB table (npm run nocodb:setup adds it)',
  value_rejected: 'NocoDB rejected a value',
  query_rejected: 'NocoDB rejected a query, so its version may not be supported',
}

type NocoDbErrorCode = keyof typeof MESSAGES

interface Details {
  /** Whether NocoDB may have executed the request */
  isIndeterminate?: boolean
  /** Delay before a retry, in ms, if known */
  retryAfterMs?: number | undefined
  /** Status of the response */
  status?: number
  /** Error code from NocoDB or the network; never a cell value */
  code?: string | undefined
}

/**
 * A request to NocoDB failed. `message` can be logged and shown: it contains neither cell values
 * nor the token.
 */
export class NocoDbError extends Error {
  override readonly name = 'NocoDbError'
  readonly isIndeterminate: boolean
  readonly retryAfterMs: number | null
  readonly status: number | undefined
  readonly code: string | undefined

  constructor(
    readonly errorCode: NocoDbErrorCode,
    { isIndeterminate = false, retryAfterMs, status, code }: Details = {},
  ) {
    super(MESSAGES[errorCode])
    this.isIndeterminate = isIndeterminate
    this.retryAfterMs = retryAfterMs ?? null
    this.status = status
    this.code = code
  }
}

/** A retry may succeed without an operator's intervention. */
const TRANSIENT: readonly NocoDbErrorCode[] = [
  'unreachable',
  'no_response',
  'server_error',
  'invalid_response',
  'response_too_large',
  'rate_limited',
  'query_rejected',
]

/** For a write that was not executed. */
export function notWritten({ errorCode, message, retryAfterMs }: NocoDbError): Problem {
  if (errorCode === 'value_rejected') {
    return new Problem(502, 'Nothing was saved. NocoDB rejected a value of this order.')
  }
  if (!TRANSIENT.includes(errorCode)) return createNotSavedProblem(message, RETRY_AFTER_FIX_S)
  return retryAfterMs === null
    ? createNotSavedProblem(message)
    : createNotSavedProblem(message, Math.max(1, Math.ceil(retryAfterMs / 1000)))
}

/** For a write that conflicted with concurrent writes, or waited for them too long. */
export const tooBusy = (): Problem =>
  createNotSavedProblem('other users are changing this order. Try again', 1)

const unconfirmed = (what: string, advice: string, cause: unknown): Problem =>
  new Problem(503, `NocoDB did not respond, so we couldn't confirm that ${what}. ${advice}`, {
    headers: { 'retry-after': '5' },
    cause,
  })

/** For a change that NocoDB may have executed without responding. */
export const changeUnconfirmed = (cause?: unknown): Problem =>
  unconfirmed('the change was saved', 'Check the order before you try again.', cause)

/** For a new order that NocoDB may have created without responding. */
export const creationUnconfirmed = (hasKey: boolean, cause?: unknown): Problem =>
  unconfirmed(
    'the order was created',
    hasKey
      ? "It's safe to retry with the same Idempotency-Key."
      : 'Check the list of orders before you create it again.',
    cause,
  )

interface Options {
  /** Address of NocoDB such as https://nocodb.example.com, without a trailing slash */
  baseUrl: string
  token: string
  requestsPerSecond: number
  /** Set by tests only */
  limits?: Partial<typeof LIMITS>
}

const LIMITS = {
  connectMs: 3_000,
  /** Maximum time until the response headers arrive, and between parts of the body */
  responseMs: 10_000,
  /** Maximum time for the whole request, excluding the time in the queue */
  totalMs: 20_000,
  /** Maximum time that an urgent request spends in the queue */
  maxWaitMs: 8_000,
  /** Parsing more would block other requests for too long. */
  maxResponseBytes: 8 * 1024 * 1024,
}

const MAX_PAUSE_MS = 10 * 60_000

export interface NocoDbRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: Record<string, string>
  body?: unknown
  priority: Priority
}

const CODES: Record<string, NocoDbErrorCode> = {
  ERR_AUTHENTICATION_REQUIRED: 'unauthorized',
  ERR_TABLE_NOT_FOUND: 'table_not_found',
  ERR_BASE_NOT_FOUND: 'table_not_found',
  ERR_RECORD_NOT_FOUND: 'record_not_found',
  ERR_FIELD_NOT_FOUND: 'column_not_found',
}

// A 404 without a NocoDB code comes from another server at this address, so it counts as an invalid
// response.
const STATUSES: Record<number, NocoDbErrorCode> = {
  400: 'value_rejected',
  401: 'unauthorized',
  403: 'unauthorized',
  409: 'value_rejected',
  413: 'value_rejected',
  422: 'value_rejected',
}

/** Failures before anything was sent. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

const CONNECTION_CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** Delay in a Retry-After header (RFC 9110, section 10.2.3), in ms, limited to MAX_PAUSE_MS. */
function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = [header].flat()[0]
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_PAUSE_MS)
}

/**
 * HTTP client for NocoDB. All requests of the process share one budget and its pauses. Throws
 * NocoDbError.
 */
export function createNocoDbClient({ baseUrl, token, requestsPerSecond, limits = {} }: Options) {
  const { connectMs, responseMs, totalMs, maxWaitMs, maxResponseBytes } = { ...LIMITS, ...limits }
  const budget = createRequestBudget(requestsPerSecond)
  const closing = new AbortController()
  // A rate-limited client is blocked for about 30 s, and longer if it keeps sending requests.
  const rateLimitBackOff = createBackOff({ minMs: 5_000, maxMs: 60_000 })
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: responseMs,
    bodyTimeout: responseMs,
    maxResponseSize: maxResponseBytes,
    connections: 4,
    pipelining: 1,
  })

  async function waitForBudget(priority: Priority): Promise<void> {
    if (priority === 'background') {
      await budget.acquire(priority, closing.signal)
      return
    }
    const pauseMs = budget.getPauseMs()
    if (pauseMs > maxWaitMs) throw new NocoDbError('rate_limited', { retryAfterMs: pauseMs })
    try {
      await budget.acquire(priority, AbortSignal.timeout(maxWaitMs))
    } catch {
      throw new NocoDbError('rate_limited', { retryAfterMs: budget.getPauseMs() })
    }
  }

  async function fetchText({ method, path, query = {}, body }: NocoDbRequest) {
    const parameters = new URLSearchParams(query).toString()
    try {
      const response = await request(
        `${baseUrl}${path}${parameters === '' ? '' : `?${parameters}`}`,
        {
          method,
          headers: {
            'xc-token': token,
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          body: body === undefined ? null : JSON.stringify(body),
          dispatcher,
          signal: AbortSignal.timeout(totalMs),
        },
      )
      return { ...response, text: await response.body.text() }
    } catch (error) {
      // Only the code is kept, because network error messages may quote the request.
      const code = getErrorCode(error)
      if (NOT_SENT.has(code)) throw new NocoDbError('unreachable', { code })
      if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
        throw new NocoDbError('response_too_large', { isIndeterminate: true })
      }
      throw new NocoDbError('no_response', { isIndeterminate: true, code: code || undefined })
    }
  }

  async function send(sent: NocoDbRequest): Promise<unknown> {
    await waitForBudget(sent.priority)
    const { statusCode: status, headers, text } = await fetchText(sent)
    const response = parseJson(text)
    if (status >= 200 && status < 300) {
      if (response === undefined) {
        throw new NocoDbError('invalid_response', { isIndeterminate: true, status })
      }
      rateLimitBackOff.reset()
      return response
    }
    const code =
      isObject(response) && typeof response.error === 'string'
        ? response.error.slice(0, 60)
        : undefined
    const retryAfterMs = parseRetryAfter(headers['retry-after'])
    if (status === 429) {
      const pauseMs = retryAfterMs ?? rateLimitBackOff.nextDelayMs()
      budget.pause(pauseMs)
      throw new NocoDbError('rate_limited', { status, code, retryAfterMs: pauseMs })
    }
    if (status >= 500) {
      if (retryAfterMs !== undefined) budget.pause(retryAfterMs)
      throw new NocoDbError('server_error', { status, code, retryAfterMs, isIndeterminate: true })
    }
    const errorCode = getOwn(CODES, code ?? '') ?? STATUSES[status] ?? 'invalid_response'
    const isQuery = errorCode === 'value_rejected' && sent.method === 'GET'
    throw new NocoDbError(isQuery ? 'query_rejected' : errorCode, { status, code })
  }

  return {
    /** Sends a request and returns the JSON of the response. */
    async request(sent: NocoDbRequest): Promise<unknown> {
      try {
        return await send(sent)
      } catch (error) {
        // If NocoDB closes a keep-alive connection, the client only notices when it sends the next
        // request.
        const isConnectionClosed =
          error instanceof NocoDbError &&
          error.errorCode === 'no_response' &&
          CONNECTION_CLOSED.has(error.code ?? '')
        if (sent.method !== 'GET' || !isConnectionClosed) throw error
        return send(sent)
      }
    },
    /** Remaining time of the pause that NocoDB has requested, ms. */
    getPauseMs: budget.getPauseMs,
    /** Requests in progress, and queued ones of the sync, fail. */
    close(): Promise<void> {
      closing.abort()
      return dispatcher.destroy()
    },
  }
}

export type NocoDbClient = ReturnType<typeof createNocoDbClient>
