import { once } from 'node:events'
import type { Writable } from 'node:stream'
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
} from '../../order-store/sql/order-row.js'
import type { RowBatches } from '../../order-store/read-order-rows.js'
import { escapeFormula } from '../formula-escaping.js'
import { Order } from '../order.js'

type Column = (typeof READ_NAMES)[number]

const formatText = (value: string | null): string => (value === null ? '' : escapeFormula(value))

/**
 * Formats database rows directly: converting each to an Order first makes an export 20% slower.
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
  origin: formatText,
  checkout: formatText,
}
const columnFormatters = READ_NAMES.map(
  (name) => FORMATTERS[name] as (value: ReadRow[number]) => string,
)
/** In the same order as the columns of a row. */
const HEADER = Object.keys(Order.properties)

const buildLine = (row: ReadRow): string[] =>
  columnFormatters.map((formatValue, index) => formatValue(row[index] ?? null))

async function* buildLines(batches: RowBatches): AsyncGenerator<string[][]> {
  yield [HEADER]
  for await (const rows of batches) yield rows.map(buildLine)
}

/**
 * Writes orders as CSV (RFC 4180, UTF-8 with BOM): one column per field; null is empty; times in
 * UTC. Ends the stream.
 */
export async function writeCsv(batches: RowBatches, file: Writable): Promise<void> {
  // The header is written as a normal line: with `headers`, fast-csv would reorder every line.
  const csv = format({ rowDelimiter: '\r\n', includeEndRowDelimiter: true, writeBOM: true })
  const written = pipeline(csv, file)
  // Reports errors of the file even while the next rows are awaited.
  const write = async () => {
    for await (const lines of buildLines(batches)) {
      for (const line of lines) if (!csv.write(line)) await once(csv, 'drain')
    }
    csv.end()
  }
  await Promise.all([written, write()])
}
