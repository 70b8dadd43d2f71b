import { isDeepStrictEqual } from 'node:util'
import { isCalculatorType } from '../calculator/calculator-data.js'
import { parseImoNumber } from '../calculator/vessel.js'
import { isCurrency, isDateTime } from '../core/validation/formats.js'
import { isObject, parseJson } from '../core/validation/is-object.js'
import { isTextLine } from '../core/validation/text-rules.js'
import { ORDER_STATUSES } from '../orders/order-status.js'
import { getMaxLength, NewOrder, type Order, type TextField } from '../orders/order.js'
import { COLUMNS, type OrderField } from './columns.js'

/** The value of a cell, or why the cell is invalid, such as "is not JSON". */
type CellResult<T> = { ok: true; value: T } | { ok: false; error: string }

/** Decode cells that are not empty. */
type Decoders = { [F in OrderField]: (cell: unknown) => CellResult<NonNullable<Order[F]>> }

const valid = <T>(value: T): CellResult<T> => ({ ok: true, value })
const invalid = (error: string): CellResult<never> => ({ ok: false, error })

const isEmpty = (cell: unknown): boolean =>
  cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '')

/** Control characters, including tabs and line breaks, that are not allowed in a line of text. */
const CONTROLS =
  /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}\p{Noncharacter_Code_Point}]+/gu
/** Control characters that are not allowed in multi-line text; tabs and line breaks are allowed. */
const MULTILINE_CONTROLS =
  /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069\p{Cs}\p{Noncharacter_Code_Point}]+/gu

const toText = (cell: unknown): string | null => {
  if (typeof cell === 'string') return cell
  return typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : null
}

const toTrimmedText = (cell: unknown): string => (toText(cell) ?? '').trim()

/** Checks the length in code points, as the schemas do. */
function limitLength(text: string, field: TextField): CellResult<string> {
  const maxLength = getMaxLength(field)
  const isTooLong = text.length > maxLength && Array.from(text).length > maxLength
  return isTooLong ? invalid(`has more than ${maxLength} characters`) : valid(text)
}

/** Decodes a line of text; control characters are replaced with spaces. */
const decodeLine =
  (field: TextField) =>
  (cell: unknown): CellResult<string> => {
    const text = toText(cell)?.replace(CONTROLS, ' ') ?? null
    return text === null || !isTextLine(text)
      ? invalid('is not a line of text')
      : limitLength(text, field)
  }

function toNumber(cell: unknown): number {
  if (typeof cell === 'number') return cell
  return typeof cell === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell.trim())
    ? Number(cell)
    : NaN
}

function decodeNumber(
  cell: unknown,
  { maximum = Infinity }: { maximum?: number },
): CellResult<number> {
  const number = toNumber(cell)
  if (Number.isNaN(number) || number < 0) return invalid('is not a number of 0 or more')
  // Adding 0 turns -0 into 0.
  return number > maximum ? invalid(`is greater than ${maximum}`) : valid(number + 0)
}

/** Parses a timestamp such as `2026-11-20 09:30:00+00:00`; UTC unless it has an offset. */
export function parseTimestamp(cell: unknown): string | null {
  const [, date, time, offset] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?$/.exec(
      typeof cell === 'string' ? cell.trim() : '',
    ) ?? []
  if (date === undefined || time === undefined) return null
  const milliseconds = Date.parse(`${date}T${time}${offset ?? 'Z'}`)
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString()
}

function decodeTimestamp(cell: unknown): CellResult<string> {
  const timestamp = parseTimestamp(cell)
  return timestamp !== null && isDateTime(timestamp)
    ? valid(timestamp)
    : invalid('is not a date and time between 1900 and 2199')
}

function decodeJson(cell: unknown): CellResult<Record<string, unknown>> {
  const data = typeof cell === 'string' ? parseJson(cell) : cell
  if (data === undefined) return invalid('is not JSON')
  return isObject(data) ? valid(data) : invalid('is not a JSON object')
}

const DECODERS: Decoders = {
  orderNumber: decodeLine('orderNumber'),
  status(cell) {
    const text = toTrimmedText(cell).toLowerCase()
    const status = ORDER_STATUSES.find((one) => one === text)
    return status === undefined
      ? invalid(`is not one of ${ORDER_STATUSES.join(', ')}`)
      : valid(status)
  },
  customerName: decodeLine('customerName'),
  // An invalid address is kept, so that the order is shown and can be corrected.
  customerEmail: decodeLine('customerEmail'),
  vesselName: decodeLine('vesselName'),
  imoNumber(cell) {
    const imoNumber = parseImoNumber(toText(cell) ?? '')
    return imoNumber === null ? invalid('is not an IMO number') : valid(imoNumber)
  },
  calculatorType(cell) {
    const type = toTrimmedText(cell).toLowerCase()
    return isCalculatorType(type) ? valid(type) : invalid('is not a calculator type')
  },
  calculatorData: decodeJson,
  co2eKg: (cell) => decodeNumber(cell, NewOrder.properties.co2eKg),
  amountMinor(cell) {
    const result = decodeNumber(cell, NewOrder.properties.amountMinor)
    return !result.ok || Number.isSafeInteger(result.value)
      ? result
      : invalid('is not a whole number of minor units')
  },
  currency(cell) {
    const code = toTrimmedText(cell).toUpperCase()
    return isCurrency(code) ? valid(code) : invalid('is not an ISO 4217 code')
  },
  orderSourceId: decodeLine('orderSourceId'),
  notes(cell) {
    const text = toText(cell)?.replace(MULTILINE_CONTROLS, ' ')
    return text === undefined ? invalid('is not text') : limitLength(text, 'notes')
  },
  placedAt: decodeTimestamp,
  fulfilledAt: decodeTimestamp,
  cancelledAt: decodeTimestamp,
}

/** Decodes a cell; an empty cell becomes `null`. */
export const decodeCell = (field: OrderField, cell: unknown): CellResult<unknown> =>
  isEmpty(cell) ? valid(null) : DECODERS[field](cell)

/** Decimal places of the CO₂e column, which stores kilograms to the gram. */
const DECIMALS = 3

/** NocoDB stores timestamps to the second. */
export const truncateToSecond = (timestamp: string): string => `${timestamp.slice(0, 19)}Z`

/** Encodes a value for its cell. */
export function encodeCell(field: OrderField, value: unknown): unknown {
  if (value === null || value === undefined) return null
  const { type } = COLUMNS[field]
  if (type === 'json') return JSON.stringify(value)
  if (type === 'decimal') return Number(Number(value).toFixed(DECIMALS))
  if (type === 'timestamp') return truncateToSecond(new Date(value as string).toISOString())
  return value
}

const normalizeText = (cell: unknown): string => (toText(cell) ?? '').replace(/\r\n?/g, '\n').trim()

/** Whether a cell still has the value written to it, which NocoDB may have rounded or trimmed. */
export function matchesWrittenValue(field: OrderField, cell: unknown, value: unknown): boolean {
  const decoded = decodeCell(field, cell)
  if (decoded.ok && isDeepStrictEqual(decoded.value, value)) return true
  const written = encodeCell(field, value)
  if (isEmpty(cell) || isEmpty(written)) return isEmpty(cell) && isEmpty(written)
  switch (COLUMNS[field].type) {
    case 'decimal':
      return Math.abs(toNumber(cell) - Number(written)) < 0.5 * 10 ** -DECIMALS
    case 'timestamp':
      return truncateToSecond(parseTimestamp(cell) ?? '') === written
    case 'integer':
      return toNumber(cell) === written
    case 'json':
      return false
    default:
      return normalizeText(cell) === normalizeText(written)
  }
}
