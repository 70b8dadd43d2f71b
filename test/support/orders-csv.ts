import type { Order } from '../../src/orders/order.js'

/** The columns of an export, in its order. */
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
  'version',
  'calculation',
] as const satisfies readonly (keyof Order)[]

/** A cell's text as RFC 4180 writes it. */
const quoted = (text: string, always = false): string =>
  always || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

function cellText(value: Order[keyof Order] | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/.test(text) ? `'${text}` : text
}

/** A file of orders by the rules of the export, written here a second time. */
export function ordersCsv(
  orders: readonly Order[],
  {
    lineBreak = '\r\n',
    mark = true,
    alwaysQuoted = false,
  }: {
    lineBreak?: string
    mark?: boolean
    alwaysQuoted?: boolean
  } = {},
): string {
  const lines = orders.map((order) =>
    COLUMNS.map((column) => quoted(cellText(order[column]), alwaysQuoted)).join(','),
  )
  return (mark ? '\ufeff' : '') + [COLUMNS.join(','), ...lines].join(lineBreak) + lineBreak
}
