import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { Agent, request, type Dispatcher } from 'undici'
import { appendAuditEntry, SYSTEM } from '../audit/audit-entry.js'
import type { SecretCipher } from '../core/config/secrets.js'
import { createGuardedLookup, PrivateAddressError } from '../core/http/public-address.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.js'
import type { Database } from '../database/database.js'
import type { Message } from '../outbox/messages.js'
import type { Sender, SendResult } from '../outbox/outbox.js'
import { isEndpointUrl, isLoopbackHost } from './endpoint-schemas.js'
import {
  disableEndpoint,
  getEndpoint,
  getEndpointWithSecrets,
  updateEndpoint,
  type DisabledReason,
} from './endpoint-store.js'
import { getEndpointId, QUEUE_PREFIX, signMessage, TEST_EVENT_TYPE } from './webhook-message.js'

const TIMEOUT_MS = 20_000
/** Longer than an attempt can take */
const LEASE_MS = TIMEOUT_MS + 10_000

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

type HttpDelivery = ReturnType<typeof createHttpDelivery>

const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

/** Maximum number of concurrent deliveries to an endpoint */
const CONCURRENCY = 10
const MAX_FAILING_MS = 5 * DAY_MS

interface SenderOptions {
  database: Database
  cipher: SecretCipher
  delivery: HttpDelivery
  log: FastifyBaseLogger
  /** Where the deliveries are counted */
  metrics: Registry
  now: () => number
  retryDelaysMs?: readonly number[]
}

/** Sends the webhooks in the outbox, and disables endpoints that are gone or keep failing. */
export function createWebhookSender({
  database,
  cipher,
  delivery,
  log,
  metrics,
  now,
  retryDelaysMs = RETRY_DELAYS_MS,
}: SenderOptions): Sender {
  const attempts = new Counter({
    name: 'clearwake_webhook_deliveries_total',
    help: 'Attempts to deliver webhooks, by outcome: sent, retry (failed, can be sent again) or rejected (gone, not sent again)',
    labelNames: ['outcome'] as const,
    registers: [metrics],
  })

  async function send(message: Message, signal: AbortSignal): Promise<SendResult> {
    const endpoint = await getEndpointWithSecrets(database, getEndpointId(message.queue))
    if (endpoint === null) {
      return { outcome: 'rejected', status: null, detail: 'The endpoint was deleted.' }
    }
    const { secret, previousSecret, previousSecretExpiresAt } = endpoint
    const isPreviousValid = (previousSecretExpiresAt ?? 0) > now()
    const secrets = (isPreviousValid ? [secret, previousSecret] : [secret])
      .map((encrypted) => (encrypted === null ? null : cipher.decrypt(encrypted)))
      .filter((decrypted) => decrypted !== null)
    if (secrets.length === 0) {
      const detail =
        'The secret cannot be decrypted because SESSION_SECRET has changed. Rotate the secret.'
      return { outcome: 'retry', status: null, detail }
    }
    const { id } = message
    const timestamp = Math.floor(now() / SECOND_MS)
    const body = JSON.stringify(message.payload)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Clearwake-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signMessage(secrets, { id, timestamp, body }),
    }
    const result = await delivery.send(endpoint.url, headers, body, signal)
    // A test event has one attempt, because an administrator is waiting for the result.
    return message.type === TEST_EVENT_TYPE && result.outcome === 'retry'
      ? { ...result, outcome: 'rejected' }
      : result
  }

  async function disable(id: string, reason: DisabledReason): Promise<void> {
    await database.write(async (tx) => {
      await disableEndpoint(tx, id, reason, now())
      const details = { id, changed: ['disabled'], reason }
      await appendAuditEntry(tx, { action: 'webhook.changed', ...SYSTEM, details })
    })
    log.warn({ endpoint: id, reason }, 'a webhook endpoint was disabled')
  }

  async function onAttempt({ queue, type }: Message, result: SendResult) {
    const { outcome, status } = result
    attempts.inc({ outcome })
    const id = getEndpointId(queue)
    const endpoint = await getEndpoint(database, id)
    if (endpoint === null) return
    const { failingSince, disabledReason } = endpoint
    if (outcome === 'sent') {
      if (failingSince === null) return
      await database.write((tx) => updateEndpoint(tx, id, { failingSince: null }))
    } else if (disabledReason !== null) {
      return
    } else if (status === 410) {
      await disable(id, 'gone')
    } else if (type === TEST_EVENT_TYPE) {
      return
    } else if (failingSince === null) {
      await database.write((tx) => updateEndpoint(tx, id, { failingSince: now() }))
    } else if (now() - failingSince >= MAX_FAILING_MS) {
      await disable(id, 'failing')
    }
  }

  return {
    queuePrefix: QUEUE_PREFIX,
    concurrency: CONCURRENCY,
    leaseMs: LEASE_MS,
    retryDelaysMs,
    send,
    onAttempt,
  }
}
