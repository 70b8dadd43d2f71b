import { isTextLine } from '../core/validation/text-rules.js'

const FORMAT = /^[1-9]\d{0,15}$/

/**
 * The highest ID that an import can assign. New orders continue after the highest ID, and JSON
 * represents integers exactly up to 2^53 only.
 */
export const MAX_IMPORTED_ID = 1_000_000_000_000

/** Parses an order ID, a positive safe integer; `null` if it is invalid. */
export function parseOrderId(id: string): number | null {
  const number = Number(id)
  return FORMAT.test(id) && Number.isSafeInteger(number) ? number : null
}

/** Whether an import can assign this ID. */
export function isImportedId(id: string): boolean {
  const number = parseOrderId(id)
  return number !== null && number <= MAX_IMPORTED_ID
}

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
