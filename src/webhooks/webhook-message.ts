import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { Queryable } from '../database/database.js'
import { toErased } from '../orders/erase-order.js'
import { ORDER_EVENT_TYPES, type OrderEvent, type OrderEventType } from '../orders/order-event.js'
import { Order } from '../orders/order.js'
import { eraseMessages, getMessageId, type NewMessage } from '../outbox/messages.js'

/** The events that an endpoint can subscribe to. They are stored, so never rename an event. */
export const WEBHOOK_EVENT_TYPES = [...ORDER_EVENT_TYPES, 'qr_code.generated'] as const
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number]

/** The type of a test event, which every endpoint receives on request. */
export const TEST_EVENT_TYPE = 'webhook.test'

export const EVENT_DESCRIPTIONS: Record<WebhookEventType, string> = {
  'order.created': 'An order was created',
  'order.updated': 'An order was changed in any way',
  'order.paid': 'The status of an order changed to paid',
  'order.fulfilled': 'The status of an order changed to fulfilled',
  'order.cancelled': 'An order was cancelled',
  'order.refunded': 'The status of an order changed to refunded',
  'qr_code.generated': 'A QR code was generated',
}

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
 * The message about an order event for an endpoint. An event that is processed twice results in the
 * same ID. The ID depends on `updatedAt`, because with NocoDB, consecutive edits can have the same
 * version.
 */
export const buildOrderMessage = (
  endpointId: string,
  { order, at }: OrderEvent,
  type: OrderEventType,
): NewMessage => ({
  id: createId(endpointId, order.id, order.version, order.updatedAt, type),
  queue: getQueue(endpointId),
  sequence: `${endpointId}:${order.id}`,
  type,
  orderId: order.id,
  payload: buildOrderBody(type, at, order),
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

/** Erases personal data from the deliveries about an order, whether they have been sent or not. */
export const eraseDeliveries = (tx: Queryable, orderId: string): Promise<void> =>
  eraseMessages(tx, { orderId, queuePrefix: QUEUE_PREFIX, isCancelled: false }, (payload) => {
    const body = payload as WebhookBody
    return { ...body, data: toErased(body.data as Order) }
  })

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Generates a signing secret in the format of Standard Webhooks. */
export const generateSecret = (): string =>
  SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/**
 * Signs a message (Standard Webhooks, version 1); returns the `webhook-signature` header, with a
 * signature for each secret.
 *
 * @param timestamp Unix time, seconds
 */
export function signMessage(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
      const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
      return `v1,${hmac.digest('base64')}`
    })
    .join(' ')
}

const HEADERS = {
  'webhook-id': 'Unique ID of the event; the same for every attempt to deliver it',
  'webhook-timestamp': 'When this attempt was sent, Unix time in seconds',
  'webhook-signature': 'Signatures (Standard Webhooks), separated by spaces',
}

const QrCodeData = Type.Object(
  {
    calculatorType: Type.String(),
    calculatorData: Type.Object({}, { additionalProperties: true }),
    vessel: Type.Object({ name: Type.String(), imoNumber: Type.Optional(Type.String()) }),
    url: Type.String({ description: 'The link encoded in the code' }),
    generatedAt: Type.String({ format: 'date-time' }),
    expiresAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Generated QR code' },
)

/** The `webhooks` section of the OpenAPI document: the requests that endpoints receive. */
export const OPENAPI_WEBHOOKS = Object.fromEntries(
  WEBHOOK_EVENT_TYPES.map((type) => [
    type,
    {
      post: {
        operationId: `receive ${type}`.replace(/[^a-z]+(\w)/g, (_, letter: string) =>
          letter.toUpperCase(),
        ),
        tags: ['Webhooks'],
        summary: EVENT_DESCRIPTIONS[type],
        parameters: Object.entries(HEADERS).map(([name, description]) => ({
          name,
          in: 'header' as const,
          required: true,
          description,
          schema: { type: 'string' as const },
        })),
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: Type.Object({
                type: Type.Literal(type),
                timestamp: Type.String({
                  format: 'date-time',
                  description: 'When the event occurred',
                }),
                data: type === 'qr_code.generated' ? QrCodeData : Order,
              }),
            },
          },
        },
        responses: {
          '2XX': { description: 'The event was received' },
          '410': { description: 'Disables the endpoint' },
          default: { description: 'The event is sent again later' },
        },
      },
    },
  ]),
)
