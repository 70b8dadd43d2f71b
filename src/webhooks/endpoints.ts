import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import { appendAuditEntry, type AuditActor } from '../audit/audit-entry.js'
import type { Config } from '../core/config/config.js'
import { createSecretCipher } from '../core/config/secrets.js'
import { Problem } from '../core/http/problem.js'
import { DAY_MS } from '../core/time.js'
import type { Database, Queryable } from '../database/database.js'
import { isErased } from '../orders/erase-order.js'
import { getEventTypes } from '../orders/order-event.js'
import type { EventConsumer } from '../orders/order-events/event-dispatcher.js'
import {
  cancelMessages,
  enqueueMessage,
  requeueMessage,
  requeueMessages,
} from '../outbox/messages.js'
import {
  countMessages,
  getMessage,
  listMessages,
  readDeliveries,
  type Delivery,
} from '../outbox/read-messages.js'
import type { NewWebhook, WebhookChanges } from './endpoint-schemas.js'
import {
  deleteEndpoint,
  disableEndpoint,
  getEndpoint,
  getEndpointWithSecrets,
  insertEndpoint,
  listEndpoints,
  listSubscribers,
  updateEndpoint,
  type EndpointChanges,
  type WebhookEndpoint,
} from './endpoint-store.js'
import { createQrCodeEvents } from './qr-code-events.js'
import {
  buildOrderMessage,
  buildTestMessage,
  eraseDeliveries,
  generateSecret,
  getQueue,
} from './webhook-message.js'
import {
  createHttpDelivery,
  createWebhookSender,
  type Options as DeliveryOptions,
} from './webhook-sender.js'

export const MAX_ENDPOINTS = 50

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
  metrics: Registry
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

/** Logs who changed an endpoint, without its URL, which can contain secrets. */
export const logWebhookChange = (request: FastifyRequest, endpoint: string, change: string): void =>
  request.log.info({ endpoint, by: request.actor }, `webhook endpoint ${change}`)

/** Returns a delivery to an endpoint; `null` if it does not exist. */
async function getDelivery(
  tx: Queryable,
  endpointId: string,
  id: string,
): Promise<Delivery | null> {
  const message = await getMessage(tx, id)
  if (message?.queue !== getQueue(endpointId)) return null
  const [delivery = null] = await readDeliveries(tx, [message])
  return delivery
}

function requireFound<T>(value: T | null, resource = 'Webhook endpoint'): T {
  if (value === null) throw new Problem(404, `${resource} not found.`)
  return value
}

/**
 * Webhook endpoints and their deliveries. Methods that return an endpoint or a delivery, and
 * `delete`, throw a Problem (404) if it does not exist.
 */
export function createEndpoints({
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
    metrics,
    now,
    ...(retryDelaysMs ? { retryDelaysMs } : {}),
  })
  const qrCodes = createQrCodeEvents(database, log)

  const get = async (id: string, tx: Queryable = database): Promise<WebhookEndpoint> =>
    requireFound(await getEndpoint(tx, id))

  return {
    allowLoopback,
    sender,
    qrCodes,
    list: () => listEndpoints(database),
    get: (id: string): Promise<WebhookEndpoint> => get(id),

    /** Returns an endpoint; throws a Problem (409) if it is disabled. */
    async requireReplayable(id: string): Promise<WebhookEndpoint> {
      const endpoint = await get(id)
      if (endpoint.disabledReason === null) return endpoint
      throw new Problem(409, 'The endpoint is disabled. Enable it before you replay deliveries.')
    },

    /** Throws a Problem (409) if there are already MAX_ENDPOINTS. */
    async create(
      { url, events, description = '' }: NewWebhook,
      by: AuditActor,
    ): Promise<EndpointWithSecret> {
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
        if ((await listEndpoints(tx)).length >= MAX_ENDPOINTS) {
          throw new Problem(
            409,
            `You can have up to ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`,
          )
        }
        await insertEndpoint(tx, fields, cipher.encrypt(secret))
        const endpoint = await get(id, tx)
        const details = { ...toAuditDetails(endpoint), events: fields.events }
        await appendAuditEntry(tx, { action: 'webhook.created', ...by, details })
        return { endpoint, secret }
      })
    },

    update: (
      id: string,
      { enabled, events, ...others }: WebhookChanges,
      by: AuditActor,
    ): Promise<WebhookEndpoint> =>
      database.write(async (tx) => {
        const before = await get(id, tx)
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
        const after = await get(id, tx)
        const changed = listChanges(before, after)
        if (changed.length > 0) {
          const details = { ...toAuditDetails(after), changed }
          await appendAuditEntry(tx, { action: 'webhook.changed', ...by, details })
        }
        return after
      }),

    /** Deletes an endpoint; its pending deliveries are cancelled. */
    delete: (id: string, by: AuditActor): Promise<void> =>
      database.write(async (tx) => {
        const details = toAuditDetails(await get(id, tx))
        await deleteEndpoint(tx, id)
        await cancelMessages(tx, getQueue(id))
        await appendAuditEntry(tx, { action: 'webhook.deleted', ...by, details })
      }),

    /** Replaces the secret. For 24 hours, deliveries are also signed with the previous secret. */
    rotateSecret: (id: string, by: AuditActor): Promise<EndpointWithSecret> =>
      database.write(async (tx) => {
        const before = requireFound(await getEndpointWithSecrets(tx, id))
        const secret = generateSecret()
        await updateEndpoint(tx, id, {
          secret: cipher.encrypt(secret),
          previousSecret: before.secret,
          previousSecretExpiresAt: now() + DAY_MS,
          updatedAt: now(),
        })
        const endpoint = await get(id, tx)
        const details = toAuditDetails(endpoint)
        await appendAuditEntry(tx, { action: 'webhook.secret_rotated', ...by, details })
        return { endpoint, secret }
      }),

    /** Queues a test event. */
    sendTest: (id: string): Promise<Delivery> =>
      database.write(async (tx) => {
        await get(id, tx)
        const message = buildTestMessage(id, now())
        await enqueueMessage(tx, message)
        return requireFound(await getDelivery(tx, id, message.id), 'Delivery')
      }),

    /** Lists a page of the deliveries to an endpoint, newest first, with their total number. */
    async listDeliveries(id: string, slice: { limit: number; offset: number }) {
      const queue = getQueue(id)
      const items = await readDeliveries(database, await listMessages(database, queue, slice))
      return { items, total: await countMessages(database, queue) }
    },

    /** Queues a delivery again. */
    replay: (id: string, deliveryId: string): Promise<Delivery> =>
      database.write(async (tx) => {
        const { message } = requireFound(await getDelivery(tx, id, deliveryId), 'Delivery')
        await requeueMessage(tx, message.id)
        return requireFound(await getDelivery(tx, id, deliveryId), 'Delivery')
      }),

    /** Replays the finished deliveries created since a time (ms since 1970); returns how many. */
    replaySince: (
      id: string,
      { since, failedOnly }: { since: number; failedOnly: boolean },
    ): Promise<number> =>
      database.write((tx) =>
        requeueMessages(tx, getQueue(id), {
          since,
          states: failedOnly ? ['failed', 'cancelled'] : ['failed', 'cancelled', 'sent'],
        }),
      ),

    /** Queues the webhooks of an order event. */
    consume: (async (tx, event) => {
      if (isErased(event.order)) await eraseDeliveries(tx, event.order.id)
      for (const type of getEventTypes(event)) {
        for (const id of await listSubscribers(tx, type)) {
          await enqueueMessage(tx, buildOrderMessage(id, event, type))
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
          const stored = await getEndpointWithSecrets(tx, id)
          if (stored === null || cipher.isCurrent(stored.secret)) continue
          const secret = cipher.decrypt(stored.secret)
          const previous = stored.previousSecret && cipher.decrypt(stored.previousSecret)
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

export type Webhooks = ReturnType<typeof createEndpoints>
