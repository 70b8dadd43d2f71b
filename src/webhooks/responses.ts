import type { Static } from '@sinclair/typebox'
import type { Delivery } from '../events/outbox.js'
import type { WebhookEndpoint } from './endpoint-store.js'
import type { Webhook, WebhookDelivery } from './schemas.js'

const toIso = (ms: number): string => new Date(ms).toISOString()
const toIsoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms))

/** An endpoint as the API returns it. */
export const toWebhook = (endpoint: WebhookEndpoint): Static<typeof Webhook> => ({
  id: endpoint.id,
  url: endpoint.url,
  description: endpoint.description,
  events: endpoint.events,
  enabled: endpoint.disabledReason === null,
  disabledReason: endpoint.disabledReason,
  disabledAt: toIsoOrNull(endpoint.disabledAt),
  failingSince: toIsoOrNull(endpoint.failingSince),
  previousSecretExpiresAt: toIsoOrNull(endpoint.previousSecretExpiresAt),
  createdAt: toIso(endpoint.createdAt),
  updatedAt: toIso(endpoint.updatedAt),
})

/** A delivery as the API returns it. */
export const toWebhookDelivery = ({
  message,
  attempts,
}: Delivery): Static<typeof WebhookDelivery> => ({
  id: message.id,
  type: message.type,
  orderId: message.orderId,
  state: message.state,
  attempts: attempts.map(({ at, durationMs, status, detail }) => ({
    at: toIso(at),
    durationMs,
    status,
    detail,
  })),
  createdAt: toIso(message.createdAt),
  nextAttemptAt: message.state === 'pending' ? toIso(message.nextAttemptAt) : null,
  finishedAt: toIsoOrNull(message.finishedAt),
})
