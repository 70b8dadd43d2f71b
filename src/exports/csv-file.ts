import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { format } from 'fast-csv'
import { escapeFormula } from '../core/formatting/formula-escaping.js'
import {
  CALCULATION_COLUMNS,
  getCalculationValues,
  PAYMENT_COLUMNS,
} from '../orders/export-format.js'
import { Order } from '../orders/order.js'
import type { ExportedOrder } from './exported-orders.js'

const ORDER_COLUMNS = Object.keys(Order.properties) as (keyof Order)[]

/** Numbers are not escaped, because a negative number is not a formula. */
function formatCell(value: unknown): string {
  if (value == null) return ''
  if (typeof value === 'number') return String(value)
  return escapeFormula(typeof value === 'string' ? value : JSON.stringify(value))
}

async function* toLines(
  orders: Iterable<ExportedOrder> | AsyncIterable<ExportedOrder>,
): AsyncGenerator<string[]> {
  // A normal line, because with `headers`, fast-csv would copy the cells of every line.
  yield [...ORDER_COLUMNS, ...PAYMENT_COLUMNS, ...CALCULATION_COLUMNS]
  for await (const order of orders) {
    const calculated = getCalculationValues(order.calculation)
    yield [
      ...ORDER_COLUMNS.map((name) => formatCell(order[name])),
      ...PAYMENT_COLUMNS.map((name) => formatCell(order.payment?.[name])),
      ...CALCULATION_COLUMNS.map((name) => formatCell(calculated[name])),
    ]
  }
}

/**
 * Writes orders as CSV (RFC 4180, UTF-8 with BOM), with one column per field, followed by the
 * payment columns and those of the calculation. Cells of null values are empty, and times are in UTC.
 * Ends the stream.
 */
export const writeCsv = (
  orders: Iterable<ExportedOrder> | AsyncIterable<ExportedOrder>,
  file: Writable,
): Promise<void> =>
  pipeline(
    toLines(orders),
    format({ rowDelimiter: '\r\n', includeEndRowDelimiter: true, writeBOM: true }),
    file,
  )
