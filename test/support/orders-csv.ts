import type { Order } from '../../src/orders/order.js'

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
