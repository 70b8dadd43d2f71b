import { CALCULATOR_TYPES } from '../../calculator/calculator-data.js'
import { ORDER_STATUSES } from '../../orders/order-status.js'

/** How a column holds its values. */
export type ColumnType = 'line' | 'text' | 'integer' | 'decimal' | 'moment' | 'json'

interface Column {
  /** Its name unless NOCODB_COLUMNS gives another */
  title: string
  kind: ColumnType
  /** The type that set-up makes it of */
  type: string
  /** Further types that do */
  alsoTypes?: readonly string[]
  /** Texts that a column of options must offer */
  choices?: readonly string[]
  options?: Record<string, unknown>
  isUnique?: boolean
}

const line = (title: string): Column => ({
  title,
  kind: 'line',
  type: 'SingleLineText',
  alsoTypes: ['LongText', 'Email', 'PhoneNumber', 'URL', 'SingleSelect'],
})
const choice = (title: string, choices: readonly string[]): Column => ({
  ...line(title),
  type: 'SingleSelect',
  alsoTypes: ['SingleLineText', 'LongText'],
  choices,
})
const moment = (title: string): Column => ({
  title,
  kind: 'moment',
  type: 'DateTime',
  options: { date_format: 'YYYY-MM-DD', time_format: 'HH:mm:ss', '12hr_format': false },
})
const text = (title: string, kind: 'text' | 'json' = 'text'): Column => ({
  title,
  kind,
  type: 'LongText',
})

/** The fields of an order that have a column each. */
export const ORDER_COLUMNS = {
  orderNumber: line('OrderNumber'),
  status: choice('Status', ORDER_STATUSES),
  customerName: line('CustomerName'),
  customerEmail: {
    ...line('CustomerEmail'),
    type: 'Email',
    alsoTypes: ['SingleLineText', 'LongText'],
  },
  vesselName: line('VesselName'),
  imoNumber: line('ImoNumber'),
  calculatorType: choice('CalculatorType', CALCULATOR_TYPES),
  calculatorData: text('CalculatorData', 'json'),
  co2eKg: { title: 'Co2eKg', kind: 'decimal', type: 'Decimal', options: { precision: 3 } },
  amountMinor: {
    title: 'AmountMinor',
    kind: 'integer',
    type: 'Number',
    alsoTypes: ['Decimal', 'Currency'],
  },
  currency: line('Currency'),
  orderSourceId: line('OrderSourceId'),
  notes: text('Notes'),
  placedAt: moment('PlacedAt'),
  fulfilledAt: moment('FulfilledAt'),
  cancelledAt: moment('CancelledAt'),
} as const satisfies Record<string, Column>

/** What Clearwake keeps beside them. */
const OWN_COLUMNS = {
  version: { title: 'Version', kind: 'integer', type: 'Number' },
  writeToken: { ...line('WriteToken'), alsoTypes: ['LongText'] },
  idempotencyKey: { ...line('IdempotencyKey'), alsoTypes: ['LongText'], isUnique: true },
  record: text('Record', 'json'),
} as const satisfies Record<string, Column>

export const COLUMNS: Record<ColumnField, Column> = { ...ORDER_COLUMNS, ...OWN_COLUMNS }

export type OrderField = keyof typeof ORDER_COLUMNS
export type ColumnField = OrderField | keyof typeof OWN_COLUMNS

export const ORDER_FIELDS = Object.keys(ORDER_COLUMNS) as OrderField[]
export const COLUMN_FIELDS = Object.keys(COLUMNS) as ColumnField[]

/** The title of each field's column. */
export type ColumnTitles = Readonly<Record<ColumnField, string>>

export const DEFAULT_TITLES = Object.fromEntries(
  COLUMN_FIELDS.map((field) => [field, COLUMNS[field].title]),
) as ColumnTitles

/** Titles come into conditions, which know no way to write these. */
const TITLE = /^[^,()~@"'\\=\p{Cc}]{1,255}$/u

const isField = (name: string): name is ColumnField => Object.hasOwn(COLUMNS, name)

/**
 * Reads NOCODB_COLUMNS, such as `customerName=Customer,amountMinor=Price`; `null` where it is
 * none, names a field twice, or gives two fields one column.
 */
export function parseColumnTitles(given: string): ColumnTitles | null {
  const titles: Record<ColumnField, string> = { ...DEFAULT_TITLES }
  const seen = new Set<string>()
  for (const pair of given.split(',')) {
    const [field = '', title = '', ...rest] = pair.split('=').map((part) => part.trim())
    if (rest.length > 0 || !isField(field) || seen.has(field) || !TITLE.test(title)) return null
    seen.add(field)
    titles[field] = title
  }
  const all = [...Object.values(titles), 'Id', 'CreatedAt', 'UpdatedAt']
  return new Set(all.map((title) => title.toLowerCase())).size === all.length ? titles : null
}
