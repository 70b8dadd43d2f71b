import { Agent, request, type Dispatcher } from 'undici'
import { getBackOffMs } from './back-off.js'
import { NocoDbError, type NocoDbErrorCode } from './nocodb-error.js'
import { createRequestBudget, type Priority } from './request-budget.js'

interface Options {
  /** Where NocoDB is, such as https://nocodb.example.com, without a slash at the end */
  baseUrl: string
  token: string
  requestsPerSecond: number
  /** For tests: how long the phases of a request may take */
  limits?: Partial<Limits>
}

interface Limits {
  /** Until there is a connection, ms */
  connectMs: number
  /** From then until the answer begins, and between its parts, ms */
  answerMs: number
  /** All of it, without waiting for its turn, ms */
  wholeMs: number
  /** An urgent request waits this long for its turn, ms: a person waits for it */
  patienceMs: number
  /** Longest answer, bytes */
  bytes: number
}

const LIMITS: Limits = {
  connectMs: 3_000,
  answerMs: 10_000,
  wholeMs: 20_000,
  patienceMs: 8_000,
  bytes: 32 * 1024 * 1024,
}

const LONGEST_PAUSE_MS = 10 * 60_000

export interface NocoDbRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Without the address of NocoDB */
  path: string
  query?: Record<string, string>
  body?: unknown
  urgency: Priority
}

const CODES: Record<string, NocoDbErrorCode> = {
  ERR_AUTHENTICATION_REQUIRED: 'token refused',
  ERR_TABLE_NOT_FOUND: 'no such table',
  ERR_BASE_NOT_FOUND: 'no such table',
  ERR_RECORD_NOT_FOUND: 'no such record',
  ERR_FIELD_NOT_FOUND: 'no such column',
}

const STATUSES: Record<number, NocoDbErrorCode> = {
  400: 'value refused',
  401: 'token refused',
  403: 'token refused',
  409: 'value refused',
  413: 'value refused',
  422: 'value refused',
  429: 'rationed',
}

/** Failures before anything was sent. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined

/** How long a Retry-After header asks to wait, ms; `undefined` where there is none. */
function retryAfterOf(header: string | string[] | undefined): number | undefined {
  const text = [header].flat()[0]
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const errorCodeOf = (answer: unknown): string | undefined =>
  typeof answer === 'object' &&
  answer !== null &&
  'error' in answer &&
  typeof answer.error === 'string'
    ? answer.error.slice(0, 60)
    : undefined

/** The text of an answer, no longer than the limit. */
async function textOf(body: Dispatcher.ResponseData['body'], most: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > most) {
      body.destroy()
      throw new NocoDbError('too large', { mayBeDone: true })
    }
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/**
 * Asks NocoDB. All requests of the process share one budget; what NocoDB asks to be left alone
 * for holds for all of them. Throws NocoDbError.
 */
export function createNocoDbClient({ baseUrl, token, requestsPerSecond, limits = {} }: Options) {
  const { connectMs, answerMs, wholeMs, patienceMs, bytes } = { ...LIMITS, ...limits }
  const budget = createRequestBudget(requestsPerSecond)
  // NocoDB that rations blocks for some thirty seconds, and longer where it is asked meanwhile.
  const rationed = getBackOffMs({ firstMs: 5_000, longestMs: 60_000 })
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    connections: 4,
    pipelining: 1,
  })

  async function turn(urgency: Priority): Promise<void> {
    if (urgency === 'background') {
      await budget.turn(urgency)
      return
    }
    const pausedFor = budget.pausedFor()
    if (pausedFor > patienceMs) throw new NocoDbError('rationed', { retryAfterMs: pausedFor })
    try {
      await budget.turn(urgency, AbortSignal.timeout(patienceMs))
    } catch {
      throw new NocoDbError('rationed', { retryAfterMs: budget.pausedFor() })
    }
  }

  async function send({ method, path, query = {}, body }: NocoDbRequest) {
    const parameters = new URLSearchParams(query).toString()
    const url = `${baseUrl}${path}${parameters === '' ? '' : `?${parameters}`}`
    const signal = AbortSignal.timeout(wholeMs)
    try {
      const answer = await request(url, {
        method,
        headers: {
          'xc-token': token,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        dispatcher,
        signal,
      })
      return { ...answer, text: await textOf(answer.body, bytes) }
    } catch (error) {
      if (error instanceof NocoDbError) throw error
      const code = codeOf(error)
      if (code !== undefined && UNSENT.has(code)) throw new NocoDbError('unreachable', { code })
      // Names of errors and codes only: messages of the network may quote what was sent.
      throw new NocoDbError('no answer', {
        mayBeDone: true,
        ...(code === undefined ? {} : { code }),
      })
    }
  }

  async function ask(question: NocoDbRequest): Promise<unknown> {
    await turn(question.urgency)
    const { statusCode: status, headers, text } = await send(question)
    const answer = parsed(text)
    if (status >= 200 && status < 300) {
      if (answer === undefined) throw new NocoDbError('garbage', { mayBeDone: true, status })
      rationed.succeeded()
      return answer
    }
    const code = errorCodeOf(answer)
    const details = { status, ...(code === undefined ? {} : { code }) }
    const retryAfterMs = retryAfterOf(headers['retry-after'])
    if (status === 429) {
      const pause = retryAfterMs ?? rationed.failed()
      budget.pause(pause)
      throw new NocoDbError('rationed', { ...details, retryAfterMs: pause })
    }
    if (status >= 500) {
      if (retryAfterMs !== undefined) budget.pause(retryAfterMs)
      throw new NocoDbError('failing', {
        ...details,
        mayBeDone: true,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      })
    }
    // A 404 without a code of NocoDB's own comes from something else at this address.
    const trouble = (code === undefined ? undefined : CODES[code]) ?? STATUSES[status] ?? 'garbage'
    const isOfQuestion = trouble === 'value refused' && question.method === 'GET'
    throw new NocoDbError(isOfQuestion ? 'question refused' : trouble, details)
  }

  return {
    /** Asks, and gives the answer's JSON. A question that changes nothing is put twice where the line breaks. */
    async ask(question: NocoDbRequest): Promise<unknown> {
      try {
        return await ask(question)
      } catch (error) {
        // A kept connection that NocoDB has closed is only noticed by using it.
        const isBroken =
          error instanceof NocoDbError && error.trouble === 'no answer' && isOfLine(error.code)
        if (question.method !== 'GET' || !isBroken) throw error
        return ask(question)
      }
    },
    /** How long NocoDB has asked to be left alone, ms. */
    pausedFor: budget.pausedFor,
    close: (): Promise<void> => dispatcher.destroy(),
  }
}

const isOfLine = (code: string | undefined): boolean =>
  code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'

export type NocoDbClient = ReturnType<typeof createNocoDbClient>
