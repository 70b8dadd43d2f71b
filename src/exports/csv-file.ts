import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { format } from 'fast-csv'
import { escapeFormula } from '../core/formatting/text.js'
import { toIsoTime } from '../core/time.js'
import { Order } from '../orders/order.js'
import {
  fromCalculatorCode,
  fromOptionalStatusCode,
  fromStatusCode,
  READ_NAMES,
  type ReadRow,
} from '../orders/store/order-row.js'
import {
  CALCULATION_COLUMNS,
  getCalculationValues,
  PAYMENT_COLUMNS,
} from '../orders/spreadsheet-format.js'
import type { Batches, ExportedRow } from './exported-orders.js'

/** Numbers are not escaped, because a negative number is not a formula. */
function formatCell(value: string | number | null | undefined): string {
  if (value == null) return ''
  return typeof value === 'number' ? String(value) : escapeFormula(value)
}

function formatColumn(row: ReadRow, name: keyof ReadRow): string {
  switch (name) {
    case 'status':
      return fromStatusCode(row.status)
    case 'cancelled_from':
      return fromOptionalStatusCode(row.cancelled_from) ?? ''
    case 'calculator_type':
      return fromCalculatorCode(row.calculator_type) ?? ''
    case 'placed_at':
    case 'created_at':
    case 'updated_at':
    case 'fulfilled_at':
    case 'cancelled_at':
    case 'paid_at': {
      const time = row[name]
      return time === null ? '' : toIsoTime(time)
    }
    default:
      return formatCell(row[name])
  }
}

function toLine(row: ExportedRow): string[] {
  const { calculation, payment } = row
  const calculated = getCalculationValues(
    calculation === null ? null : (JSON.parse(calculation) as Order['calculation']),
  )
  return [
    ...READ_NAMES.map((name) => formatColumn(row, name)),
    ...PAYMENT_COLUMNS.map((name) => formatCell(payment?.[name])),
    ...CALCULATION_COLUMNS.map((name) => formatCell(calculated[name])),
  ]
}

async function* toLines(batches: Batches<ExportedRow>): AsyncGenerator<string[]> {
  // A normal line, because with `headers`, fast-csv would copy the cells of every line.
  yield [...Object.keys(Order.properties), ...PAYMENT_COLUMNS, ...CALCULATION_COLUMNS]
  for await (const rows of batches) yield* rows.map(toLine)
}

/**
 * Writes orders as CSV (RFC 4180, UTF-8 with BOM), with one column per field, followed by the
 * payment columns and those of the calculation. Cells of null values are empty, and times are in UTC.
 * Ends the stream.
 */
export const writeCsv = (batches: Batches<ExportedRow>, file: Writable): Promise<void> =>
  pipeline(
    toLines(batches),
    format({ rowDelimiter: '\r\n', includeEndRowDelimiter: true, writeBOM: true }),
    file,
  )
