import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { format } from 'fast-csv'
import { formatIsoTime } from '../../order-store/sqlite/iso-time.js'
import {
  fromCalculatorCode,
  formatOptionalIsoTime,
  READ_NAMES,
  fromStatusCode,
  type OrderRow,
  type ReadRow,
} from '../../order-store/sqlite/order-row.js'
import { escapeFormula } from '../formula-escaping.js'
import { Order } from '../order.js'

type Column = (typeof READ_NAMES)[number]

const text = (value: string | null): string => (value === null ? '' : escapeFormula(value))

/**
 * How a row's values are written. From rows, as an order made of each first would take a fifth of
 * an export's time. Figures stay as they are: a negative one is no formula.
 */
const WRITERS: { [Name in Column]: (value: OrderRow[Name]) => string } = {
  id: String,
  order_number: text,
  status: fromStatusCode,
  customer_name: text,
  customer_email: text,
  vessel_name: text,
  imo_number: text,
  calculator_type: (code) => fromCalculatorCode(code) ?? '',
  calculator_data: text,
  co2e_kg: String,
  amount_minor: String,
  currency: text,
  order_source_id: text,
  notes: text,
  placed_at: formatIsoTime,
  created_at: formatIsoTime,
  updated_at: formatIsoTime,
  fulfilled_at: (moment) => formatOptionalIsoTime(moment) ?? '',
  cancelled_at: (moment) => formatOptionalIsoTime(moment) ?? '',
  version: String,
}
const COLUMNS = READ_NAMES.map((name) => WRITERS[name] as (value: ReadRow[number]) => string)
/** Rows have an order's values in the order of its fields. */
const TITLES = Object.keys(Order.properties)

/** The titles and, for each order, its values. */
function* lines(rows: Iterable<ReadRow>): Generator<string[]> {
  yield TITLES
  for (const row of rows) yield COLUMNS.map((write, at) => write(row[at] ?? null))
}

/**
 * Writes orders as CSV (RFC 4180, UTF-8): a column for each field, under its name; what is null
 * is empty; times in UTC. Ends the stream.
 */
export async function writeCsv(rows: Iterable<ReadRow>, file: Writable): Promise<void> {
  // Titles are a line like the others: given `headers`, fast-csv would put each line in their order.
  const csv = format({ rowDelimiter: '\r\n', includeEndRowDelimiter: true, writeBOM: true })
  await pipeline(Readable.from(lines(rows)), csv, file)
}
