import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { format } from 'fast-csv'
import {
  fromCalculatorCode,
  formatOptionalTime,
  formatTime,
  READ_NAMES,
  fromStatusCode,
  type OrderRow,
  type ReadRow,
} from '../../order-store/sqlite/order-row.js'
import { escapeFormula } from '../formula-escaping.js'
import { Order } from '../order.js'

type Column = (typeof READ_NAMES)[number]

const formatText = (value: string | null): string => (value === null ? '' : escapeFormula(value))

/**
 * Formats database rows directly: converting each to an Order first makes an export 20 % slower.
 * Numbers are not escaped: a negative number is not a formula.
 */
const FORMATTERS: { [Name in Column]: (value: OrderRow[Name]) => string } = {
  id: String,
  order_number: formatText,
  status: fromStatusCode,
  customer_name: formatText,
  customer_email: formatText,
  vessel_name: formatText,
  imo_number: formatText,
  calculator_type: (code) => fromCalculatorCode(code) ?? '',
  calculator_data: formatText,
  co2e_kg: String,
  amount_minor: String,
  currency: formatText,
  order_source_id: formatText,
  notes: formatText,
  placed_at: formatTime,
  created_at: formatTime,
  updated_at: formatTime,
  fulfilled_at: (time) => formatOptionalTime(time) ?? '',
  cancelled_at: (time) => formatOptionalTime(time) ?? '',
  version: String,
  calculation: formatText,
}
const columnFormatters = READ_NAMES.map(
  (name) => FORMATTERS[name] as (value: ReadRow[number]) => string,
)
/** In the same order as the columns of a row. */
const HEADER = Object.keys(Order.properties)

function* buildLines(rows: Iterable<ReadRow>): Generator<string[]> {
  yield HEADER
  for (const row of rows)
    yield columnFormatters.map((formatValue, index) => formatValue(row[index] ?? null))
}

/**
 * Writes orders as CSV (RFC 4180, UTF-8 with BOM): one column per field; null is empty; times in
 * UTC. Ends the stream.
 */
export async function writeCsv(rows: Iterable<ReadRow>, file: Writable): Promise<void> {
  // The header is written as a normal line: with `headers`, fast-csv would reorder every line.
  const csv = format({ rowDelimiter: '\r\n', includeEndRowDelimiter: true, writeBOM: true })
  await pipeline(Readable.from(buildLines(rows)), csv, file)
}
