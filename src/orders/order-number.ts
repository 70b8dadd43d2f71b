import { isTextLine } from '../core/validation/text-rules.js'

export const ORDER_NUMBER_PREFIX = 'CW-'
const MIN_DIGITS = 6

/** Formats an order number, such as CW-000042. */
export const formatOrderNumber = (number: number): string =>
  `${ORDER_NUMBER_PREFIX}${String(number).padStart(MIN_DIGITS, '0')}`

/** Whether a string is a valid order number: one line without surrounding whitespace. */
export const isOrderNumber = (text: string): boolean => isTextLine(text) && text.trim() === text

/** Finds the order numbers of this service in text. */
export const findOrderNumbers = (text: string): string[] => [
  ...new Set(text.match(new RegExp(`\\b${ORDER_NUMBER_PREFIX}\\d{${MIN_DIGITS},}\\b`, 'g'))),
]
