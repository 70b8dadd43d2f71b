import { randomUUID } from 'node:crypto'
import { getEventTypes, type OrderEvent, type OrderEventType } from '../orders/order-event.js'
import type { Queryable } from '../database/database.js'
import { toErased } from '../orders/erasure.js'
import type { Order } from '../orders/order.js'
import { eraseMessages, getMessageId, type NewMessage } from '../events/outbox.js'
import { TEST_EVENT_TYPE } from './event-types.js'

/** Queues of webhook deliveries are named after their endpoint. */
export const QUEUE_PREFIX = 'webhook:'
export const getQueue = (endpointId: string): string => QUEUE_PREFIX + endpointId
export const getEndpointId = (queue: string): string => queue.slice(QUEUE_PREFIX.length)

/** Standard Webhooks recommends less than 20 kB. */
const MAX_BODY_BYTES = 20_000

/** The body of a webhook. */
export interface WebhookBody {
  type: string
  /** When the event occurred, ISO 8601 */
  timestamp: string
  data: object
}

/** The `webhook-id`. It must not contain dots, which separate the signed parts. */
const createId = (...parts: readonly (string | number)[]): string => getMessageId('msg', ...parts)

const isTooLong = (body: WebhookBody): boolean =>
  Buffer.byteLength(JSON.stringify(body)) >= MAX_BODY_BYTES

/** Shortens the notes of an order, its longest field, until its webhook is small enough. */
function buildOrderBody(type: OrderEventType, timestamp: string, order: Order): WebhookBody {
  let body: WebhookBody = { type, timestamp, data: order }
  let characters = Array.from(order.notes)
  while (isTooLong(body) && characters.length > 0) {
    characters = characters.slice(0, Math.floor(characters.length * 0.8))
    body = { type, timestamp, data: { ...order, notes: `${characters.join('')}…` } }
  }
  return body
}

/**
 * The messages about an order event for one endpoint. An event that is processed twice results in
 * the same IDs. The IDs depend on `updatedAt`, because with NocoDB, consecutive edits can have the
 * same version.
 */
export function buildOrderMessages(
  endpointId: string,
  event: OrderEvent,
  types: readonly OrderEventType[] = getEventTypes(event),
): NewMessage[] {
  const { order } = event
  return types.map((type) => ({
    id: createId(endpointId, order.id, order.version, order.updatedAt, type),
    queue: getQueue(endpointId),
    sequence: `${endpointId}:${order.id}`,
    type,
    orderId: order.id,
    payload: buildOrderBody(type, event.at, order),
  }))
}

/** Erases personal data from the deliveries about an order, whether they have been sent or not. */
export const eraseDeliveries = (tx: Queryable, orderId: string): Promise<void> =>
  eraseMessages(tx, { orderId, queuePrefix: QUEUE_PREFIX, isCancelled: false }, (payload) => {
    const body = payload as WebhookBody
    return { ...body, data: toErased(body.data as Order) }
  })

/** A message that is not about an order. */
export function buildMessage(endpointId: string, body: WebhookBody): NewMessage {
  const id = createId(randomUUID())
  return {
    id,
    queue: getQueue(endpointId),
    sequence: `${endpointId}:${id}`,
    type: body.type,
    orderId: null,
    payload: body,
  }
}

export const buildTestMessage = (endpointId: string, now: number): NewMessage =>
  buildMessage(endpointId, {
    type: TEST_EVENT_TYPE,
    timestamp: new Date(now).toISOString(),
    data: { endpointId, message: 'A test of this endpoint' },
  })
