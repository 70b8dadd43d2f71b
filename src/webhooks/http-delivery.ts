import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request, type Dispatcher } from 'undici'
import { createGuardedLookup, PrivateAddressError } from '../core/http/public-address.js'
import type { SendResult } from '../outbox/outbox-worker.js'
import { isEndpointUrl, isLoopbackHost } from './address-guard.js'

const TIMEOUT_MS = 20_000
/** Longer than an attempt can take */
export const LEASE_MS = TIMEOUT_MS + 10_000

const MAX_RESPONSE_BYTES = 64 * 1024
const MAX_EXCERPT_BYTES = 1024
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000

/** Control characters and bidirectional formatting characters. PostgreSQL cannot store NUL. */
const UNPRINTABLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

const toExcerpt = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replace(UNPRINTABLE, (character) => (/[\t\n]/.test(character) ? character : ' '))
    .trim()

/** Reads a response body up to a limit, and returns its beginning as text. */
async function readExcerpt(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      if (length < MAX_EXCERPT_BYTES) parts.push(part)
      length += part.length
      // Leaving the loop closes the connection.
      if (length > MAX_RESPONSE_BYTES) break
    }
  } catch {
    // The status counts, even if the connection is lost or the body takes too long.
  }
  return toExcerpt(Buffer.concat(parts).subarray(0, MAX_EXCERPT_BYTES))
}

/** Converts Retry-After (seconds or a date) to ms, up to a limit; `undefined` if it is unusable. */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  const delayMs = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return delayMs > 0 ? Math.min(delayMs, MAX_RETRY_AFTER_MS) : undefined
}

function toResult({ statusCode, headers }: Dispatcher.ResponseData, excerpt: string): SendResult {
  const status = statusCode
  if (status >= 200 && status < 300) return { outcome: 'sent', status, detail: excerpt }
  if (status === 410) return { outcome: 'rejected', status, detail: excerpt }
  const detail = status >= 300 && status < 400 ? 'Redirects are not followed.' : excerpt
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now())
  return {
    outcome: 'retry',
    status,
    detail,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

const ERRORS: readonly [codes: RegExp, message: string][] = [
  [/^(ENOTFOUND|EAI_)/, 'The host name was not found.'],
  [/^ECONNREFUSED$/, 'The connection was refused.'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH)$/, 'The host cannot be reached.'],
  [/CERT|SELF_SIGNED|ISSUER/, 'The TLS certificate of the host is not valid.'],
  [/^(ERR_SSL|EPROTO)/, 'The TLS connection failed.'],
]

/** Describes an error without addresses, which could reveal an internal network. */
function describeError(error: unknown): string {
  if (error instanceof PrivateAddressError) {
    return 'The host has an address that is not public.'
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const [, message] = ERRORS.find(([codes]) => codes.test(code)) ?? []
  return message ?? 'The connection was closed before a response.'
}

export interface Options {
  /** Permits http to 127.0.0.1 and localhost */
  allowLoopback: boolean
  /** Set by tests only */
  timeoutMs?: number
  lookup?: Parameters<typeof createGuardedLookup>[1]
}

/**
 * Sends webhooks over HTTP, to public addresses only. Ignores the environment variables for
 * proxies, and does not follow redirects.
 */
export function createHttpDelivery({ allowLoopback, timeoutMs = TIMEOUT_MS, lookup }: Options) {
  const agent = new Agent({
    connect: {
      lookup: createGuardedLookup((name) => allowLoopback && isLoopbackHost(name), lookup),
      timeout: timeoutMs,
    },
  })

  async function post(
    url: string,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
    onStatus: (result: SendResult) => void,
  ): Promise<SendResult> {
    const response = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers,
      body,
      signal,
    })
    onStatus(toResult(response, ''))
    return toResult(response, await readExcerpt(response.body))
  }

  return {
    /** Sends a webhook once, within the time-out. Never throws. */
    async send(
      url: string,
      headers: Record<string, string>,
      body: string,
      signal: AbortSignal,
    ): Promise<SendResult> {
      const fail = (detail: string): SendResult => ({ outcome: 'retry', status: null, detail })
      // The host may be an IP address, which is not looked up.
      if (!isEndpointUrl(url, allowLoopback)) return fail('Webhooks cannot be sent to this URL.')
      let received: SendResult | null = null
      const ending = new AbortController()
      const end = (): void => ending.abort()
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
      const timeout = sleep(timeoutMs, undefined, { signal: ending.signal }).then(
        end,
        () => undefined,
      )
      const ended = timeout.then(
        () => received ?? fail(`No response within ${timeoutMs / 1000} seconds.`),
      )
      const response = post(url, headers, body, ending.signal, (result) => {
        received = result
      })
      try {
        // The signal does not end a connection that is being established.
        return await Promise.race([response, ended])
      } catch (error) {
        return ending.signal.aborted ? await ended : fail(describeError(error))
      } finally {
        signal.removeEventListener('abort', end)
        end()
      }
    },

    close: (): Promise<void> => agent.destroy(),
  }
}

export type HttpDelivery = ReturnType<typeof createHttpDelivery>
