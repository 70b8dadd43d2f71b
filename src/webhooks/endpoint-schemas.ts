import { isIP } from 'node:net'
import { Type, type Static } from '@sinclair/typebox'
import { isPublicAddress } from '../core/http/public-address.js'
import { createValidators, type Validators } from '../core/validation/field-errors.js'
import { stringEnum } from '../core/validation/formats.js'
import { MESSAGE_STATES } from '../outbox/messages.js'
import { DISABLED_REASONS } from './endpoint-store.js'
import { WEBHOOK_EVENT_TYPES } from './webhook-message.js'

export const MAX_URL_LENGTH = 2048

/** Hosts of this machine that WEBHOOK_ALLOW_LOOPBACK permits, over http. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost'])

export const isLoopbackHost = (hostname: string): boolean => LOOPBACK_HOSTS.has(hostname)

/**
 * Whether webhooks may be sent to a URL, as far as can be determined before its host is resolved.
 */
export function isEndpointUrl(text: string, allowLoopback: boolean): boolean {
  const url = URL.parse(text)
  if (url?.username !== '' || url.password !== '') return false
  if (isLoopbackHost(url.hostname)) return allowLoopback && url.protocol === 'http:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return url.protocol === 'https:' && (isIP(host) === 0 || isPublicAddress(host))
}

const MAX_DESCRIPTION_LENGTH = 200

const dateTime = (description: string) => Type.String({ format: 'date-time', description })
const nullableDateTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description })

const url = Type.String({
  maxLength: MAX_URL_LENGTH,
  format: 'webhook-url',
  'x-message': 'must be an https URL with a public host, without user name and password',
  description: 'https URL that receives the events',
})
const description = Type.String({
  maxLength: MAX_DESCRIPTION_LENGTH,
  format: 'text',
  description: 'What the endpoint is for',
})
const events = Type.Array(stringEnum(WEBHOOK_EVENT_TYPES), {
  minItems: 1,
  maxItems: 50,
  description: 'Types of the events to send',
})

export const NewWebhook = Type.Object(
  { url, events, description: Type.Optional(description) },
  {
    title: 'New webhook endpoint',
    additionalProperties: false,
    examples: [
      { url: 'https://shop.example.com/webhooks', events: ['order.created', 'order.paid'] },
    ],
  },
)
export type NewWebhook = Static<typeof NewWebhook>

export const WebhookChanges = Type.Partial(
  Type.Object(
    {
      url,
      events,
      description,
      enabled: Type.Boolean({
        description: 'A disabled endpoint receives nothing; its pending deliveries are cancelled',
      }),
    },
    { additionalProperties: false },
  ),
  {
    title: 'Changes to a webhook endpoint',
    additionalProperties: false,
    examples: [{ events: ['order.paid', 'order.refunded'], enabled: true }],
  },
)
export type WebhookChanges = Static<typeof WebhookChanges>

export const Webhook = Type.Object(
  {
    id: Type.String({ description: 'ID of the endpoint' }),
    url: Type.String({ description: 'https URL that receives the events' }),
    description: Type.String({ description: 'What the endpoint is for' }),
    events: Type.Array(stringEnum(WEBHOOK_EVENT_TYPES), {
      description: 'Types of the events to send',
    }),
    enabled: Type.Boolean(),
    disabledReason: Type.Unsafe<(typeof DISABLED_REASONS)[number] | null>({
      type: ['string', 'null'],
      enum: [...DISABLED_REASONS, null],
      description:
        'administrator: by PATCH or in the portal; gone: it responded with 410; failing: deliveries failed for 5 days',
    }),
    disabledAt: nullableDateTime('When it was disabled'),
    failingSince: nullableDateTime('The first failed delivery since the last success'),
    previousSecretExpiresAt: nullableDateTime(
      'After a rotation, deliveries are also signed with the previous secret until this time',
    ),
    createdAt: dateTime('When it was created'),
    updatedAt: dateTime('When it was last changed'),
  },
  { title: 'Webhook endpoint' },
)

export const WebhookWithSecret = Type.Composite(
  [
    Webhook,
    Type.Object({
      secret: Type.String({ description: 'Signing secret; it cannot be retrieved again' }),
    }),
  ],
  { title: 'Webhook endpoint with its secret' },
)

export const WebhookList = Type.Object(
  { items: Type.Array(Webhook, { description: 'Oldest first' }) },
  { title: 'Webhook endpoints' },
)

export const WebhookDelivery = Type.Object(
  {
    id: Type.String({ description: 'The webhook-id header' }),
    type: Type.String({ description: 'Type of the event' }),
    orderId: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'ID of the order',
    }),
    state: stringEnum(MESSAGE_STATES, {
      description:
        'pending: waiting to be sent or retried; failed: all attempts failed; cancelled: the endpoint was disabled',
    }),
    attempts: Type.Array(
      Type.Object({
        at: dateTime('When it started'),
        durationMs: Type.Integer({ description: 'Duration, ms' }),
        status: Type.Unsafe<number | null>({
          type: ['integer', 'null'],
          description: 'Status of the response; null if there was none',
        }),
        detail: Type.String({ description: 'First kilobyte of the response, or the error' }),
      }),
      { description: 'Oldest first' },
    ),
    createdAt: dateTime('When it was queued'),
    nextAttemptAt: nullableDateTime('When it is sent next, if it is pending'),
    finishedAt: nullableDateTime('When it was sent, failed or was cancelled'),
  },
  { title: 'Webhook delivery' },
)

export const WebhookDeliveryPage = Type.Object(
  {
    items: Type.Array(WebhookDelivery, { description: 'Newest first' }),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    totalItems: Type.Integer({ description: 'Number of deliveries on all pages' }),
    totalPages: Type.Integer(),
  },
  { title: 'Page of webhook deliveries' },
)

export const DeliveryQuery = Type.Object(
  {
    page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
    pageSize: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
  },
  { additionalProperties: false },
)

export const ReplayRequest = Type.Object(
  {
    since: dateTime('Resends deliveries that were queued at or after this time'),
    failedOnly: Type.Optional(
      Type.Boolean({ default: false, description: 'Only those that failed or were cancelled' }),
    ),
  },
  {
    title: 'Replay',
    additionalProperties: false,
    examples: [{ since: '2026-11-20T09:00:00Z', failedOnly: true }],
  },
)

export const createWebhookValidators = (allowLoopback: boolean): Validators =>
  createValidators({
    formats: { 'webhook-url': (text) => isEndpointUrl(text, allowLoopback) },
    keywords: [],
  })
