import { Type } from '@sinclair/typebox'
import { Order } from '../orders/order.js'
import { EVENT_DESCRIPTIONS, WEBHOOK_EVENT_TYPES } from './webhook-message.js'

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
