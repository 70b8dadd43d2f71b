import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { type Registry, Counter } from 'prom-client'
import { appendAuditEntry, type AuditActor } from '../audit/audit-entry.js'
import type { Database } from '../database/database.js'
import type { Config } from '../core/config/config.js'
import { isErased } from '../orders/erasure.js'
import { getEventTypes } from '../orders/order-event.js'
import type { EventConsumer } from '../orders/events/event-dispatcher.js'
import { cancelMessages, enqueueMessage, type Delivery } from '../events/outbox.js'
import { getDelivery, listDeliveries, replayDeliveries, replayDelivery } from './deliveries.js'
import { disableEndpoint } from './disable-endpoint.js'
import {
  deleteEndpoint,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  listSubscribers,
  updateEndpoint,
  type EndpointChanges,
  type WebhookEndpoint,
} from './endpoint-store.js'
import type { NewWebhook, WebhookChanges } from './schemas.js'
import { createHttpDelivery, type Options as DeliveryOptions } from './http-delivery.js'
import { buildOrderMessages, buildTestMessage, eraseDeliveries, getQueue } from './message.js'
import { createQrCodeEvents } from './qr-code-events.js'
import { createSecretCipher } from '../core/config/secret-cipher.js'
import { createWebhookSender } from './sender.js'
import { generateSecret } from './signature.js'
import type { SendResult } from '../events/outbox-worker.js'

/** Counts the attempts to deliver webhooks, in the metrics of the service. */
function createDeliveryCounter(metrics: Registry) {
  const attempts = new Counter({
    name: 'clearwake_webhook_deliveries_total',
    help: 'Attempts to deliver webhooks, by outcome: sent, retry (failed, can be sent again) or rejected (gone, not sent again)',
    labelNames: ['outcome'] as const,
    registers: [metrics],
  })
  return ({ outcome }: Pick<SendResult, 'outcome'>): void => attempts.inc({ outcome })
}

export const MAX_ENDPOINTS = 50
const PREVIOUS_SECRET_MS = 24 * 60 * 60 * 1000

/** An endpoint with its secret, which is shown once. */
interface EndpointWithSecret {
  endpoint: WebhookEndpoint
  secret: string
}

interface Options {
  database: Database
  config: Pick<Config, 'sessionSecrets' | 'WEBHOOK_ALLOW_LOOPBACK'>
  log: FastifyBaseLogger
  /** Where the deliveries are counted */
  metrics?: Registry
  /** Set by tests only */
  now?: () => number
  retryDelaysMs?: readonly number[]
  delivery?: Omit<DeliveryOptions, 'allowLoopback'>
}

/** An endpoint for the audit log, without its full URL, which can contain secrets. */
const toAuditDetails = ({ id, url }: WebhookEndpoint) => ({ id, host: new URL(url).host })

const FIELDS = ['url', 'description', 'events'] as const

const listChanges = (before: WebhookEndpoint, after: WebhookEndpoint): string[] => [
  ...FIELDS.filter((name) => String(before[name]) !== String(after[name])),
  ...(before.disabledReason === after.disabledReason
    ? []
    : [after.disabledReason === null ? 'enabled' : 'disabled']),
]

/** Without default ports, dot segments and fragment, and with the host in lower case. */
const normalizeUrl = (url: string): string => Object.assign(new URL(url), { hash: '' }).href

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)]

/**
 * Webhook endpoints and their deliveries. Methods that return an endpoint or a delivery return
 * `null` if it does not exist.
 */
export function createWebhooks({
  database,
  config,
  log,
  metrics,
  now = Date.now,
  retryDelaysMs,
  delivery: deliveryOptions,
}: Options) {
  const allowLoopback = config.WEBHOOK_ALLOW_LOOPBACK
  const cipher = createSecretCipher(config.sessionSecrets, 'webhook secrets v1')
  const delivery = createHttpDelivery({ allowLoopback, ...deliveryOptions })
  const sender = createWebhookSender({
    database,
    cipher,
    delivery,
    log,
    now,
    ...(retryDelaysMs ? { retryDelaysMs } : {}),
    ...(metrics ? { countAttempt: createDeliveryCounter(metrics) } : {}),
  })

  const qrCodes = createQrCodeEvents(database, log)

  const get = async (id: string): Promise<WebhookEndpoint | null> =>
    (await getEndpoint(database, id))?.endpoint ?? null

  async function update(
    id: string,
    changes: WebhookChanges,
    by: AuditActor,
  ): Promise<WebhookEndpoint | null> {
    const { enabled, events, ...others } = changes
    return database.write(async (tx) => {
      const before = (await getEndpoint(tx, id))?.endpoint
      if (before === undefined) return null
      const fields: EndpointChanges = { ...others, updatedAt: now() }
      if (fields.url !== undefined) fields.url = normalizeUrl(fields.url)
      if (events !== undefined) fields.events = unique(events)
      if (enabled === true && before.disabledReason !== null) {
        Object.assign(fields, { disabledReason: null, disabledAt: null, failingSince: null })
      }
      await updateEndpoint(tx, id, fields)
      if (enabled === false && before.disabledReason === null) {
        await disableEndpoint(tx, id, 'administrator', now())
      }
      const after = (await getEndpoint(tx, id))?.endpoint ?? null
      const changed = after && listChanges(before, after)
      if (after && changed && changed.length > 0) {
        const details = { ...toAuditDetails(after), changed }
        await appendAuditEntry(tx, { action: 'webhook.changed', ...by, details })
      }
      return after
    })
  }

  return {
    allowLoopback,
    sender,
    qrCodes,
    list: () => listEndpoints(database),
    get,
    update,

    /** Returns `null` if there are already MAX_ENDPOINTS. */
    async create(
      { url, events, description = '' }: NewWebhook,
      by: AuditActor,
    ): Promise<EndpointWithSecret | null> {
      const secret = generateSecret()
      const id = `we_${randomBytes(12).toString('hex')}`
      const fields = {
        id,
        url: normalizeUrl(url),
        description,
        events: unique(events),
        createdAt: now(),
      }
      return database.write(async (tx) => {
        if ((await listEndpoints(tx)).length >= MAX_ENDPOINTS) return null
        await insertEndpoint(tx, fields, cipher.encrypt(secret))
        const created = await getEndpoint(tx, id)
        if (created === null) return null
        const details = { ...toAuditDetails(created.endpoint), events: fields.events }
        await appendAuditEntry(tx, { action: 'webhook.created', ...by, details })
        return { endpoint: created.endpoint, secret }
      })
    },

    /** Deletes an endpoint; its pending deliveries are cancelled. */
    delete: (id: string, by: AuditActor): Promise<WebhookEndpoint | null> =>
      database.write(async (tx) => {
        const endpoint = (await getEndpoint(tx, id))?.endpoint ?? null
        if (endpoint === null) return null
        await deleteEndpoint(tx, id)
        await cancelMessages(tx, getQueue(id))
        const details = toAuditDetails(endpoint)
        await appendAuditEntry(tx, { action: 'webhook.deleted', ...by, details })
        return endpoint
      }),

    /** Replaces the secret. For 24 hours, deliveries are also signed with the previous secret. */
    rotateSecret: (id: string, by: AuditActor): Promise<EndpointWithSecret | null> =>
      database.write(async (tx) => {
        const before = await getEndpoint(tx, id)
        if (before === null) return null
        const secret = generateSecret()
        await updateEndpoint(tx, id, {
          secret: cipher.encrypt(secret),
          previousSecret: before.secret,
          previousSecretExpiresAt: now() + PREVIOUS_SECRET_MS,
          updatedAt: now(),
        })
        const after = await getEndpoint(tx, id)
        if (after === null) return null
        const details = toAuditDetails(after.endpoint)
        await appendAuditEntry(tx, { action: 'webhook.secret_rotated', ...by, details })
        return { endpoint: after.endpoint, secret }
      }),

    /** Queues a test event. */
    sendTest: (id: string): Promise<Delivery | null> =>
      database.write(async (tx) => {
        if ((await getEndpoint(tx, id)) === null) return null
        const message = buildTestMessage(id, now())
        await enqueueMessage(tx, message)
        return getDelivery(tx, id, message.id)
      }),

    listDeliveries: (id: string, slice: { limit: number; offset: number }) =>
      listDeliveries(database, id, slice),

    replay: (id: string, deliveryId: string): Promise<Delivery | null> =>
      database.write((tx) => replayDelivery(tx, id, deliveryId)),

    replaySince: (id: string, options: { since: number; failedOnly: boolean }): Promise<number> =>
      database.write((tx) => replayDeliveries(tx, id, options)),

    /** Queues the webhooks of an order event. */
    consume: (async (tx, event) => {
      if (isErased(event.order)) await eraseDeliveries(tx, event.order.id)
      for (const type of getEventTypes(event)) {
        for (const id of await listSubscribers(tx, type)) {
          for (const message of buildOrderMessages(id, event, [type])) {
            await enqueueMessage(tx, message)
          }
        }
      }
    }) satisfies EventConsumer,

    /**
     * Encrypts the secrets with the current SESSION_SECRET, so that the previous SESSION_SECRET can
     * be removed.
     */
    async encryptSecretsAgain(): Promise<void> {
      await database.write(async (tx) => {
        for (const { id } of await listEndpoints(tx)) {
          const found = await getEndpoint(tx, id)
          if (found === null || cipher.isCurrent(found.secret)) continue
          const secret = cipher.decrypt(found.secret)
          const previous = found.previousSecret && cipher.decrypt(found.previousSecret)
          if (secret === null) continue
          await updateEndpoint(tx, id, {
            secret: cipher.encrypt(secret),
            previousSecret: previous && cipher.encrypt(previous),
          })
        }
      })
    },

    /** Call it after the last request, before the database is closed. */
    async close(): Promise<void> {
      await qrCodes
        .flush()
        .catch((err: unknown) => log.error({ err }, 'webhooks of QR codes could not be queued'))
      await delivery.close()
    },
  }
}

export type Webhooks = ReturnType<typeof createWebhooks>
