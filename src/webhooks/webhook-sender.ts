import type { FastifyBaseLogger } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { appendAuditEntry, SYSTEM } from '../audit/audit-entry.js'
import type { SecretCipher } from '../core/config/secret-cipher.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.js'
import type { Database } from '../database/database.js'
import type { Message } from '../outbox/messages.js'
import type { Sender, SendResult } from '../outbox/outbox-worker.js'
import {
  disableEndpoint,
  getEndpoint,
  getEndpointWithSecrets,
  updateEndpoint,
  type DisabledReason,
} from './endpoint-store.js'
import { LEASE_MS, type HttpDelivery } from './http-delivery.js'
import { signMessage } from './signature.js'
import { getEndpointId, QUEUE_PREFIX, TEST_EVENT_TYPE } from './webhook-message.js'

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
