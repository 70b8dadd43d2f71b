import { Readable } from 'node:stream'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { importOrders } from '../../src/orders/import/import-orders.js'
import type { Order } from '../../src/orders/order.js'

/** Imports a file into the order database at a path. */
export async function importInto(
  path: string,
  file: Iterable<Buffer> | AsyncIterable<Buffer> | string,
) {
  const chunks = typeof file === 'string' ? [Buffer.from(file)] : file
  const database = openSqliteDatabase(path)
  const outcome = await importOrders(database, Readable.from(chunks), {
    onRead: () => undefined,
    onPhase: () => undefined,
  })
  await database.close()
  return outcome
}

/** The columns of an export, in order. */
const COLUMNS = [
  'id',
  'orderNumber',
  'status',
  'customerName',
  'customerEmail',
  'vesselName',
  'imoNumber',
  'calculatorType',
  'calculatorData',
  'co2eKg',
  'amountMinor',
  'currency',
  'orderSourceId',
  'notes',
  'placedAt',
  'createdAt',
  'updatedAt',
  'fulfilledAt',
  'cancelledAt',
  'cancelledFrom',
  'paidAt',
  'retirement',
  'version',
  'calculation',
  'origin',
  'checkout',
] as const satisfies readonly (keyof Order)[]

/** Quotes a cell (RFC 4180). */
const quoteCell = (text: string, isRequired = false): string =>
  isRequired || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

function formatCell(value: Order[keyof Order] | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/.test(text) ? `'${text}` : text
}

/** Renders orders as CSV by the rules of the export; an independent implementation. */
export function ordersCsv(
  orders: readonly Order[],
  {
    lineBreak = '\r\n',
    hasByteOrderMark = true,
    quoteAll = false,
  }: {
    lineBreak?: string
    hasByteOrderMark?: boolean
    quoteAll?: boolean
  } = {},
): string {
  const lines = orders.map((order) =>
    COLUMNS.map((column) => quoteCell(formatCell(order[column]), quoteAll)).join(','),
  )
  return (
    (hasByteOrderMark ? '\ufeff' : '') + [COLUMNS.join(','), ...lines].join(lineBreak) + lineBreak
  )
}
