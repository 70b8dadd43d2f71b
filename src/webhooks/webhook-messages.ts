import { getOwn } from '../core/validation/get-own.js'

/** Flash messages on the webhook pages, by code. */
const MESSAGES: Partial<Record<string, string>> = {
  'webhook-saved': 'The endpoint was saved.',
  'webhook-enabled': 'The endpoint was enabled. You can replay failed and cancelled deliveries.',
  'webhook-disabled': 'The endpoint was disabled. Pending deliveries were cancelled.',
  'webhook-deleted': 'The endpoint was deleted.',
  'webhook-tested': 'A test event is being sent.',
  'webhook-replayed': 'The delivery will be sent again.',
  'webhooks-replayed': 'The deliveries will be sent again.',
  'webhooks-not-replayed': 'There are no deliveries to send again since that time.',
}

export const getWebhookMessage = (code: string): string | null => getOwn(MESSAGES, code) ?? null
