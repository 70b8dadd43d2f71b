import { ORDER_EVENT_TYPES } from '../orders/order-event.js'

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
