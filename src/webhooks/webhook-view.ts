import type { Formatters } from '../core/formatting/portal-formatters.js'
import { isObject } from '../core/validation/formats.js'
import type { MessageState } from '../outbox/messages.js'
import { buildMessageView, toTime, type Delivery } from '../outbox/read-messages.js'
import type { DisabledReason, WebhookEndpoint } from './endpoint-store.js'

export const WEBHOOKS_URL = '/admin/settings/webhooks'

const REASONS: Record<DisabledReason, string> = {
  administrator: 'An administrator disabled this endpoint.',
  gone: 'The endpoint responded with status 410 (Gone), so it was disabled.',
  failing: 'Deliveries failed for 5 days, so the endpoint was disabled.',
}

const DELIVERY_LABELS: Record<MessageState, string> = {
  pending: 'Pending',
  sent: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

function getState({ disabledReason, failingSince }: WebhookEndpoint) {
  if (disabledReason !== null) return { className: 'cancelled', label: 'Disabled' }
  if (failingSince !== null) return { className: 'refunded', label: 'Failing' }
  return { className: 'fulfilled', label: 'Enabled' }
}

/** Builds the view of an endpoint for its page and the list. */
export function buildWebhookView(endpoint: WebhookEndpoint, format: Formatters, now = Date.now()) {
  const { id, url, description, events, disabledReason, disabledAt, failingSince } = endpoint
  const { previousSecretExpiresAt } = endpoint
  return {
    id,
    url,
    href: `${WEBHOOKS_URL}/${id}`,
    title: description || new URL(url).host,
    events,
    state: getState(endpoint),
    isEnabled: disabledReason === null,
    disabled:
      disabledReason === null
        ? null
        : {
            reason: REASONS[disabledReason],
            at: toTime(disabledAt ?? 0, format),
          },
    failingSince:
      failingSince === null || disabledReason !== null ? null : toTime(failingSince, format),
    createdAt: toTime(endpoint.createdAt, format),
    previousSecretExpiresAt:
      previousSecretExpiresAt !== null && previousSecretExpiresAt > now
        ? toTime(previousSecretExpiresAt, format)
        : null,
  }
}

/** The endpoints that were disabled because they are gone or keep failing. */
export const buildWebhookAlerts = (endpoints: readonly WebhookEndpoint[], format: Formatters) =>
  endpoints
    .filter(({ disabledReason }) => disabledReason === 'gone' || disabledReason === 'failing')
    .map((endpoint) => buildWebhookView(endpoint, format))

/** The order number in the payload of an event; `null` if the event is not about an order. */
function getOrderNumber(payload: unknown): string | null {
  const data = isObject(payload) ? payload.data : null
  return isObject(data) && typeof data.orderNumber === 'string' ? data.orderNumber : null
}

/** Builds the log entry of a delivery. */
export function buildDeliveryView(
  delivery: Delivery,
  { id: endpointId, disabledReason }: WebhookEndpoint,
  format: Formatters,
) {
  const { id, type, orderId, payload } = delivery.message
  const number = getOrderNumber(payload) ?? orderId
  return {
    ...buildMessageView(delivery, DELIVERY_LABELS, format),
    type,
    subject: orderId === null ? null : number,
    order: orderId === null ? null : { href: `/admin/orders/${orderId}`, number },
    sendUrl:
      disabledReason === null ? `${WEBHOOKS_URL}/${endpointId}/deliveries/${id}/replay` : null,
  }
}
