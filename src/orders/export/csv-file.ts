import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { format } from 'fast-csv'
import { isoTime } from '../book/iso-time.js'
import { calculatorOf, isoTimeOrNull, statusOf, type ReadRow } from '../book/order-row.js'
import { protectedText } from '../formula-text.js'
import { Order } from '../order.js'

const FIELDS = Object.keys(Order.properties) as (keyof Order)[]

const text = (value: string | null): string => (value === null ? '' : protectedText(value))

/**
 * An order's values as text, straight from its row: an order made of it first would take a fifth of
 * an export's time. Figures stay as they are: a negative one is no formula.
 */
const textsOf = ([
  id,
  orderNumber,
  status,
  customerName,
  customerEmail,
  vesselName,
  imoNumber,
  calculatorType,
  calculatorData,
  co2eKg,
  amountMinor,
  currency,
  orderSourceId,
  notes,
  placedAt,
  createdAt,
  updatedAt,
  fulfilledAt,
  cancelledAt,
  version,
]: ReadRow): Record<keyof Order, string> => ({
  id: String(id),
  orderNumber: text(orderNumber),
  status: statusOf(status),
  customerName: text(customerName),
  customerEmail: text(customerEmail),
  vesselName: text(vesselName),
  imoNumber: text(imoNumber),
  calculatorType: calculatorOf(calculatorType) ?? '',
  calculatorData: text(calculatorData),
  co2eKg: String(co2eKg),
  amountMinor: String(amountMinor),
  currency: text(currency),
  orderSourceId: text(orderSourceId),
  notes: text(notes),
  placedAt: isoTime(placedAt),
  createdAt: isoTime(createdAt),
  updatedAt: isoTime(updatedAt),
  fulfilledAt: isoTimeOrNull(fulfilledAt) ?? '',
  cancelledAt: isoTimeOrNull(cancelledAt) ?? '',
  version: String(version),
})

/** The titles and, for each order, its values. */
function* lines(rows: Iterable<ReadRow>): Generator<string[]> {
  yield FIELDS
  for (const row of rows) {
    const texts = textsOf(row)
    yield FIELDS.map((field) => texts[field])
  }
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
