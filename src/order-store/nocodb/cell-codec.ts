import { isDeepStrictEqual } from 'node:util'
import { isCalculatorType } from '../../calculator/calculator-data.js'
import { validateCalculation } from '../../calculator/validate-calculation.js'
import { parseImoNumber } from '../../calculator/imo-number.js'
import { isCurrency, isDateTime } from '../../validation/formats.js'
import { isTextLine } from '../../validation/text-line.js'
import { ORDER_STATUSES } from '../../orders/order-status.js'
import { getMaxLength, NewOrder, type Order, type TextField } from '../../orders/order.js'
import { ORDER_COLUMNS, type ColumnType, type OrderField } from './columns.js'

/** What a cell says, or why it cannot be what its column is for. */
export type CellResult<T> = { ok: true; value: T } | { ok: false; fault: string }

type Value<F extends OrderField> = Order[F]
type Readers = { [F in OrderField]: (cell: unknown) => CellResult<Value<F> | null> }

const is = <T>(value: T): CellResult<T> => ({ ok: true, value })
const not = (fault: string): CellResult<never> => ({ ok: false, fault })

/** People leave cells empty in several ways. */
const isEmpty = (cell: unknown): boolean =>
  cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '')

/** Control characters, tabs and breaks included, that text of one line cannot have. */
const CONTROLS =
  /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}\p{Noncharacter_Code_Point}]+/gu
const CONTROLS_OF_TEXT =
  /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069\p{Cs}\p{Noncharacter_Code_Point}]+/gu

const textOf = (cell: unknown): string | null => {
  if (typeof cell === 'string') return cell
  return typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : null
}

/** A text that a field has room for; characters are counted as the schemas do, by code points. */
function fitting(text: string, field: TextField): CellResult<string> {
  const most = getMaxLength(field)
  const isLong = text.length > most && Array.from(text).length > most
  return isLong ? not(`has more than ${most} characters`) : is(text)
}

/** A line of text, its control characters as spaces. */
const line =
  (field: TextField) =>
  (cell: unknown): CellResult<string | null> => {
    if (isEmpty(cell)) return is(null)
    const text = textOf(cell)?.replace(CONTROLS, ' ') ?? null
    return text === null || !isTextLine(text) ? not('is not a line of text') : fitting(text, field)
  }

function readChoice<T extends string>(cell: unknown, values: readonly T[]): CellResult<T | null> {
  if (isEmpty(cell)) return is(null)
  const text = textOf(cell)?.trim().toLowerCase()
  const value = values.find((one) => one === text)
  return value === undefined ? not(`is not one of ${values.join(', ')}`) : is(value)
}

function numberOf(cell: unknown): number {
  if (typeof cell === 'number') return cell
  return typeof cell === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell.trim())
    ? Number(cell)
    : NaN
}

const readNumber = (
  cell: unknown,
  { maximum = Infinity }: { maximum?: number },
  whole: boolean,
): CellResult<number | null> => {
  if (isEmpty(cell)) return is(null)
  const number = numberOf(cell)
  if (Number.isNaN(number) || number < 0) return not('is not a number from zero on')
  if (number > maximum) return not(`is more than ${maximum}`)
  if (whole && !Number.isSafeInteger(number)) return not('is not a whole number of minor units')
  return is(number + 0)
}

/** NocoDB writes `2026-11-20 09:30:00+00:00`; UTC where it leaves the offset out. */
export function parseTimestamp(cell: unknown): string | null {
  const [, date, time, offset] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?$/.exec(
      typeof cell === 'string' ? cell.trim() : '',
    ) ?? []
  if (date === undefined || time === undefined) return null
  const milliseconds = Date.parse(`${date}T${time}${offset ?? 'Z'}`)
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString()
}

function readMoment(cell: unknown): CellResult<string | null> {
  if (isEmpty(cell)) return is(null)
  const moment = parseTimestamp(cell)
  return moment !== null && isDateTime(moment)
    ? is(moment)
    : not('is not a moment of the years 1900 to 2199')
}

function readCurrency(cell: unknown): CellResult<string | null> {
  if (isEmpty(cell)) return is(null)
  const code = textOf(cell)?.trim().toUpperCase() ?? ''
  return isCurrency(code) ? is(code) : not('is not an ISO 4217 code')
}

function readData(cell: unknown): CellResult<Record<string, unknown> | null> {
  if (isEmpty(cell)) return is(null)
  let data: unknown = cell
  try {
    if (typeof cell === 'string') data = JSON.parse(cell)
  } catch {
    return not('is not JSON')
  }
  return typeof data === 'object' && data !== null && !Array.isArray(data)
    ? is(data as Record<string, unknown>)
    : not('is not a JSON object')
}

/** How the cell of each field is read. Empty is `null`. */
export const CELL_DECODERS: Readers = {
  orderNumber: line('orderNumber'),
  status: (cell) => readChoice(cell, ORDER_STATUSES),
  customerName: line('customerName'),
  // One that is none is shown as it stands: the order is real, and can be mended.
  customerEmail: line('customerEmail'),
  vesselName: line('vesselName'),
  imoNumber(cell) {
    if (isEmpty(cell)) return is(null)
    const digits = parseImoNumber(textOf(cell) ?? '')
    return digits === null ? not('is not an IMO number') : is(digits)
  },
  calculatorType(cell) {
    const type = isEmpty(cell) ? '' : (textOf(cell) ?? '').trim().toLowerCase()
    if (type === '') return is(null)
    return isCalculatorType(type) ? is(type) : not('is not a calculator')
  },
  calculatorData: readData,
  co2eKg: (cell) => readNumber(cell, NewOrder.properties.co2eKg, false),
  amountMinor: (cell) => readNumber(cell, NewOrder.properties.amountMinor, true),
  currency: readCurrency,
  orderSourceId: line('orderSourceId'),
  notes(cell) {
    const text = isEmpty(cell) ? '' : textOf(cell)?.replace(CONTROLS_OF_TEXT, ' ')
    return text === undefined ? not('is not text') : fitting(text, 'notes')
  },
  placedAt: readMoment,
  fulfilledAt: readMoment,
  cancelledAt: readMoment,
}

/** Whether data are those of a calculator. */
export const isDataFor = (type: Order['calculatorType'], data: unknown): boolean =>
  type !== null && validateCalculation(type, structuredClone(data)).ok

/** As finely as the column of decimals is filled: grams. */
const DECIMALS = 3

/** NocoDB keeps moments by the second. */
const secondOf = (moment: string): string => `${moment.slice(0, 19)}Z`

/** A value as its cell is written. */
export function encodeCell(field: OrderField, value: unknown): unknown {
  if (value === null || value === undefined) return null
  const { kind } = ORDER_COLUMNS[field] as { kind: ColumnType }
  if (kind === 'json') return JSON.stringify(value)
  if (kind === 'decimal') return Number(Number(value).toFixed(DECIMALS))
  if (kind === 'moment') return secondOf(new Date(value as string).toISOString())
  return value
}

const plain = (cell: unknown): string => (textOf(cell) ?? '').replace(/\r\n?/g, '\n').trim()

/**
 * Whether a cell still holds what was written to it from here: as far as columns can, which may
 * round, cut off parts of seconds and trim.
 */
export function matchesWrittenValue(field: OrderField, cell: unknown, value: unknown): boolean {
  const written = encodeCell(field, value)
  const { kind } = ORDER_COLUMNS[field] as { kind: ColumnType }
  const reading = CELL_DECODERS[field](cell)
  if (reading.ok && isDeepStrictEqual(reading.value, value)) return true
  if (isEmpty(cell) || written === null || written === '') return isEmpty(cell) && isEmpty(written)
  if (kind === 'decimal') return Math.abs(numberOf(cell) - Number(written)) < 0.5 * 10 ** -DECIMALS
  if (kind === 'moment') return secondOf(parseTimestamp(cell) ?? '') === written
  if (kind === 'integer') return numberOf(cell) === written
  if (kind === 'json') return reading.ok && isDeepStrictEqual(reading.value, value)
  return plain(cell) === plain(written)
}
