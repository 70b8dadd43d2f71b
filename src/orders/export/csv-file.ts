import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { format } from 'fast-csv'
import { protectedText } from '../formula-text.js'
import { Order } from '../order.js'

const BYTE_ORDER_MARK = '\ufeff'
const FIELDS = Object.keys(Order.properties) as (keyof Order)[]

/** A value as text. Numbers stay as they are: a negative one is no formula. */
function cellText(value: Order[keyof Order]): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  return protectedText(typeof value === 'string' ? value : JSON.stringify(value))
}

function* cells(orders: Iterable<Order>): Generator<string[]> {
  for (const order of orders) yield FIELDS.map((field) => cellText(order[field]))
}

/**
 * Writes orders as CSV (RFC 4180, UTF-8): a column for each field, under its name; what is null
 * is empty; times in UTC. Ends the stream.
 */
export async function writeCsv(orders: Iterable<Order>, file: Writable): Promise<void> {
  // fast-csv writes its own only where there are rows.
  file.write(BYTE_ORDER_MARK)
  const lines = format({
    headers: FIELDS,
    alwaysWriteHeaders: true,
    rowDelimiter: '\r\n',
    includeEndRowDelimiter: true,
  })
  await pipeline(Readable.from(cells(orders)), lines, file)
}
