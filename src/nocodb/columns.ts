import { isDeepStrictEqual } from 'node:util'
import { CALCULATOR_TYPES, isCalculatorType } from '../calculator/calculator-data.js'
import { parseImoNumber } from '../calculator/vessel.js'
import { isCurrency, isDateTime, isObject, parseJson } from '../core/validation/formats.js'
import { isTextLine } from '../core/validation/text-rules.js'
import { ORDER_STATUSES } from '../orders/order-status.js'
import { getMaxLength, NewOrder, type Order, type TextField } from '../orders/order.js'

/** How a column's cells are encoded. */
type ColumnType = 'line' | 'text' | 'integer' | 'decimal' | 'timestamp' | 'json'

interface Column {
  /** The title, unless NOCODB_COLUMNS sets another title */
  title: string
  type: ColumnType
  /** The NocoDB type of a new column */
  nocoDbType: string
  /** Other NocoDB types that an existing column may have */
  otherNocoDbTypes?: readonly string[]
  /** Options that a SingleSelect column must have */
  choices?: readonly string[]
  options?: Record<string, unknown>
  isUnique?: boolean
}

const line = (title: string): Column => ({
  title,
  type: 'line',
  nocoDbType: 'SingleLineText',
  otherNocoDbTypes: ['LongText', 'Email', 'PhoneNumber', 'URL', 'SingleSelect'],
})
const choice = (title: string, choices: readonly string[]): Column => ({
  ...line(title),
  nocoDbType: 'SingleSelect',
  otherNocoDbTypes: ['SingleLineText', 'LongText'],
  choices,
})
const timestamp = (title: string): Column => ({
  title,
  type: 'timestamp',
  nocoDbType: 'DateTime',
  options: { date_format: 'YYYY-MM-DD', time_format: 'HH:mm:ss', '12hr_format': false },
})
const text = (title: string, type: 'text' | 'json' = 'text'): Column => ({
  title,
  type,
  nocoDbType: 'LongText',
})

const ORDER_COLUMNS = {
  orderNumber: line('OrderNumber'),
  status: choice('Status', ORDER_STATUSES),
  customerName: line('CustomerName'),
  customerEmail: {
    ...line('CustomerEmail'),
    nocoDbType: 'Email',
    otherNocoDbTypes: ['SingleLineText', 'LongText'],
  },
  vesselName: line('VesselName'),
  imoNumber: line('ImoNumber'),
  calculatorType: choice('CalculatorType', CALCULATOR_TYPES),
  calculatorData: text('CalculatorData', 'json'),
  co2eKg: { title: 'Co2eKg', type: 'decimal', nocoDbType: 'Decimal', options: { precision: 3 } },
  amountMinor: {
    title: 'AmountMinor',
    type: 'integer',
    nocoDbType: 'Number',
    otherNocoDbTypes: ['Decimal', 'Currency'],
  },
  currency: line('Currency'),
  orderSourceId: line('OrderSourceId'),
  notes: text('Notes'),
  placedAt: timestamp('PlacedAt'),
  fulfilledAt: timestamp('FulfilledAt'),
  cancelledAt: timestamp('CancelledAt'),
} as const satisfies Record<string, Column>

/** Columns for Clearwake's own use. */
const INTERNAL_COLUMNS = {
  version: { title: 'Version', type: 'integer', nocoDbType: 'Number' },
  writeToken: { ...line('WriteToken'), otherNocoDbTypes: ['LongText'] },
  idempotencyKey: { ...line('IdempotencyKey'), otherNocoDbTypes: ['LongText'], isUnique: true },
  record: text('Record', 'json'),
} as const satisfies Record<string, Column>

export const COLUMNS: Record<ColumnField, Column> = { ...ORDER_COLUMNS, ...INTERNAL_COLUMNS }

export type OrderField = keyof typeof ORDER_COLUMNS
export type ColumnField = OrderField | keyof typeof INTERNAL_COLUMNS

export const ORDER_FIELDS = Object.keys(ORDER_COLUMNS) as OrderField[]
export const COLUMN_FIELDS = Object.keys(COLUMNS) as ColumnField[]

/** The title of each field's column. */
export type ColumnTitles = Readonly<Record<ColumnField, string>>

export const DEFAULT_TITLES = Object.fromEntries(
  COLUMN_FIELDS.map((field) => [field, COLUMNS[field].title]),
) as ColumnTitles

/** Cell values by column title. */
export type Cells = Record<string, unknown>

/** A row of the table. */
export type Row = Readonly<Cells> & { readonly Id: number }

/**
 * Titles are used in `where` conditions. This pattern excludes the characters that cannot be
 * escaped there.
 */
const TITLE = /^[^,()~@"'\\=\p{Cc}]{1,255}$/u

const isField = (name: string): name is ColumnField => Object.hasOwn(COLUMNS, name)

/**
 * Parses NOCODB_COLUMNS, such as `customerName=Customer,amountMinor=Price`. Returns `null` if it is
 * invalid, contains a field twice, maps two fields to one column, or maps a field to a system
 * column.
 */
export function parseColumnTitles(value: string): ColumnTitles | null {
  const titles: Record<ColumnField, string> = { ...DEFAULT_TITLES }
  const seen = new Set<string>()
  for (const pair of value.split(',')) {
    const [field = '', title = '', ...rest] = pair.split('=').map((part) => part.trim())
    if (rest.length > 0 || !isField(field) || seen.has(field) || !TITLE.test(title)) return null
    seen.add(field)
    titles[field] = title
  }
  const all = [...Object.values(titles), 'Id', 'CreatedAt', 'UpdatedAt']
  return new Set(all.map((title) => title.toLowerCase())).size === all.length ? titles : null
}

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

/** Parses a number; `NaN` for any other cell. */
export function toNumber(cell: unknown): number {
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
