import type { Order } from '../order.js'
import { toInlineLabel } from '../labels.js'

const MESSAGES = {
  created: ({ orderNumber }) => `Order ${orderNumber} was created.`,
  saved: ({ orderNumber }) => `Order ${orderNumber} was saved.`,
  unchanged: ({ orderNumber }) => `Order ${orderNumber} was not changed.`,
  moved: ({ orderNumber, status }) => `Order ${orderNumber} is now ${toInlineLabel(status)}.`,
  refunded: ({ orderNumber }) => `The payment of order ${orderNumber} was refunded.`,
  recalculated: ({ orderNumber }) => `Order ${orderNumber} was recalculated.`,
  cancelled: ({ orderNumber }) => `Order ${orderNumber} was cancelled.`,
  restored: ({ orderNumber, status }) =>
    `Order ${orderNumber} was restored. It is ${toInlineLabel(status)} again.`,
  undone: ({ orderNumber, status }) => `Order ${orderNumber} is ${toInlineLabel(status)} again.`,
  placed: ({ orderNumber }) => `The offset order for ${orderNumber} was placed.`,
  'placed-otherwise': ({ orderNumber }) =>
    `The offset order for ${orderNumber} was placed, but it differs from what you confirmed.`,
  found: ({ orderNumber }) =>
    `The provider has the offset order for ${orderNumber}. Its ID was saved.`,
  reset: ({ orderNumber }) => `Order ${orderNumber} can be placed again.`,
  'mail-queued': ({ orderNumber }) => `The email about order ${orderNumber} is being sent.`,
} as const satisfies Record<string, (order: Order) => string>

export type MessageCode = keyof typeof MESSAGES

export const isMessageCode = (code: string): code is MessageCode => Object.hasOwn(MESSAGES, code)

export const formatFlashMessage = (code: MessageCode, order: Order): string => MESSAGES[code](order)
