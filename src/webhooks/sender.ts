import { appendAuditEntry, SYSTEM } from '../audit/audit-entry.js'
import type { FastifyBaseLogger } from 'fastify'
import type { Database } from '../database/database.js'
import type { Message } from '../events/outbox.js'
import type { Sender, SendResult } from '../events/outbox-worker.js'
import { disableEndpoint } from './disable-endpoint.js'
import { getEndpoint, updateEndpoint, type DisabledReason } from './endpoint-store.js'
import { TEST_EVENT_TYPE } from './event-types.js'
import { LEASE_MS, type HttpDelivery } from './http-delivery.js'
import { getEndpointId, QUEUE_PREFIX } from './message.js'
import type { SecretCipher } from '../core/config/secret-cipher.js'
import { signMessage } from './signature.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.js'

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
const MAX_FAILING_MS = 5 * 24 * HOUR_MS

interface SenderOptions {
  database: Database
  cipher: SecretCipher
  delivery: HttpDelivery
  log: FastifyBaseLogger
  now: () => number
  retryDelaysMs?: readonly number[]
  /** Called after each attempt */
  countAttempt?: (result: SendResult) => void
}

/** Sends the webhooks in the outbox, and disables endpoints that are gone or keep failing. */
export function createWebhookSender({
  database,
  cipher,
  delivery,
  log,
  now,
  retryDelaysMs = RETRY_DELAYS_MS,
  countAttempt,
}: SenderOptions): Sender {
  async function send(message: Message, signal: AbortSignal): Promise<SendResult> {
    const found = await getEndpoint(database, getEndpointId(message.queue))
    if (found === null) {
      return { outcome: 'rejected', status: null, detail: 'The endpoint was deleted.' }
    }
    const { endpoint, secret, previousSecret } = found
    const isPreviousValid = (endpoint.previousSecretExpiresAt ?? 0) > now()
    const secrets = [
      secret,
      ...(previousSecret !== null && isPreviousValid ? [previousSecret] : []),
    ]
      .map((encrypted) => cipher.decrypt(encrypted))
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
    countAttempt?.(result)
    const id = getEndpointId(queue)
    const endpoint = (await getEndpoint(database, id))?.endpoint
    if (endpoint === undefined) return
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
