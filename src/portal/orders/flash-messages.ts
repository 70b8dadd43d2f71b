import type { Order } from '../../orders/order.js'
import { STATUS_LABELS } from '../labels.js'

const WORDS = {
  created: ({ orderNumber }: Order) => `Order ${orderNumber} was entered.`,
  saved: ({ orderNumber }: Order) => `Order ${orderNumber} was saved.`,
  unchanged: ({ orderNumber }: Order) => `Order ${orderNumber} is as it was: nothing was changed.`,
  moved: ({ orderNumber, status }: Order) => `Order ${orderNumber} is now ${inText(status)}.`,
  cancelled: ({ orderNumber }: Order) => `Order ${orderNumber} was cancelled.`,
  restored: ({ orderNumber, status }: Order) =>
    `Order ${orderNumber} is no longer cancelled: it is ${inText(status)} again.`,
  undone: ({ orderNumber, status }: Order) => `Order ${orderNumber} is ${inText(status)} again.`,
  placed: ({ orderNumber }: Order) => `Order ${orderNumber} was placed at the order source.`,
  'placed-otherwise': ({ orderNumber }: Order) =>
    `Order ${orderNumber} was placed at the order source, but not as you confirmed it.`,
  found: ({ orderNumber }: Order) => `Order ${orderNumber} is at the order source; its id is kept.`,
  released: ({ orderNumber }: Order) =>
    `Order ${orderNumber} was released, and can be placed again.`,
} as const satisfies Record<string, (order: Order) => string>

const inText = (status: Order['status']): string => STATUS_LABELS[status].toLowerCase()

/** What was done to an order. */
export type MessageCode = keyof typeof WORDS

export const isMessageCode = (code: string): code is MessageCode => Object.hasOwn(WORDS, code)

/** A message in words. */
export const formatFlashMessage = (code: MessageCode, order: Order): string => WORDS[code](order)
