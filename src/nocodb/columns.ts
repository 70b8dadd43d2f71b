import { CALCULATOR_TYPES } from '../calculator/calculator-data.js'
import { ORDER_STATUSES } from '../orders/order-status.js'

/** How a column's cells are encoded. */
type ColumnType = 'line' | 'text' | 'integer' | 'decimal' | 'timestamp' | 'json'

interface Column {
  /** The title, unless NOCODB_COLUMNS sets another title */
  title: string
  type: ColumnType
  /** The NocoDB type of a new column */
  nocoDbType: string
  /** Other NocoDB types that an existing column may have */
  otherNocoDbTypes?: readonly string[]
  /** Options that a SingleSelect column must have */
  choices?: readonly string[]
  options?: Record<string, unknown>
  isUnique?: boolean
}

const line = (title: string): Column => ({
  title,
  type: 'line',
  nocoDbType: 'SingleLineText',
  otherNocoDbTypes: ['LongText', 'Email', 'PhoneNumber', 'URL', 'SingleSelect'],
})
const choice = (title: string, choices: readonly string[]): Column => ({
  ...line(title),
  nocoDbType: 'SingleSelect',
  otherNocoDbTypes: ['SingleLineText', 'LongText'],
  choices,
})
const timestamp = (title: string): Column => ({
  title,
  type: 'timestamp',
  nocoDbType: 'DateTime',
  options: { date_format: 'YYYY-MM-DD', time_format: 'HH:mm:ss', '12hr_format': false },
})
const text = (title: string, type: 'text' | 'json' = 'text'): Column => ({
  title,
  type,
  nocoDbType: 'LongText',
})

const ORDER_COLUMNS = {
  orderNumber: line('OrderNumber'),
  status: choice('Status', ORDER_STATUSES),
  customerName: line('CustomerName'),
  customerEmail: {
    ...line('CustomerEmail'),
    nocoDbType: 'Email',
    otherNocoDbTypes: ['SingleLineText', 'LongText'],
  },
  vesselName: line('VesselName'),
  imoNumber: line('ImoNumber'),
  calculatorType: choice('CalculatorType', CALCULATOR_TYPES),
  calculatorData: text('CalculatorData', 'json'),
  co2eKg: { title: 'Co2eKg', type: 'decimal', nocoDbType: 'Decimal', options: { precision: 3 } },
  amountMinor: {
    title: 'AmountMinor',
    type: 'integer',
    nocoDbType: 'Number',
    otherNocoDbTypes: ['Decimal', 'Currency'],
  },
  currency: line('Currency'),
  orderSourceId: line('OrderSourceId'),
  notes: text('Notes'),
  placedAt: timestamp('PlacedAt'),
  fulfilledAt: timestamp('FulfilledAt'),
  cancelledAt: timestamp('CancelledAt'),
} as const satisfies Record<string, Column>

/** Columns for Clearwake's own use. */
const INTERNAL_COLUMNS = {
  version: { title: 'Version', type: 'integer', nocoDbType: 'Number' },
  writeToken: { ...line('WriteToken'), otherNocoDbTypes: ['LongText'] },
  idempotencyKey: { ...line('IdempotencyKey'), otherNocoDbTypes: ['LongText'], isUnique: true },
  record: text('Record', 'json'),
} as const satisfies Record<string, Column>

export const COLUMNS: Record<ColumnField, Column> = { ...ORDER_COLUMNS, ...INTERNAL_COLUMNS }

export type OrderField = keyof typeof ORDER_COLUMNS
export type ColumnField = OrderField | keyof typeof INTERNAL_COLUMNS

export const ORDER_FIELDS = Object.keys(ORDER_COLUMNS) as OrderField[]
export const COLUMN_FIELDS = Object.keys(COLUMNS) as ColumnField[]

/** The title of each field's column. */
export type ColumnTitles = Readonly<Record<ColumnField, string>>

export const DEFAULT_TITLES = Object.fromEntries(
  COLUMN_FIELDS.map((field) => [field, COLUMNS[field].title]),
) as ColumnTitles

/** Cell values by column title. */
export type Cells = Record<string, unknown>

/** A row of the table. */
export type Row = Readonly<Cells> & { readonly Id: number }

/**
 * Titles are used in `where` conditions. This pattern excludes the characters that cannot be
 * escaped there.
 */
const TITLE = /^[^,()~@"'\\=\p{Cc}]{1,255}$/u

const isField = (name: string): name is ColumnField => Object.hasOwn(COLUMNS, name)

/**
 * Parses NOCODB_COLUMNS, such as `customerName=Customer,amountMinor=Price`. Returns `null` if it is
 * invalid, contains a field twice, maps two fields to one column, or maps a field to a system
 * column.
 */
export function parseColumnTitles(value: string): ColumnTitles | null {
  const titles: Record<ColumnField, string> = { ...DEFAULT_TITLES }
  const seen = new Set<string>()
  for (const pair of value.split(',')) {
    const [field = '', title = '', ...rest] = pair.split('=').map((part) => part.trim())
    if (rest.length > 0 || !isField(field) || seen.has(field) || !TITLE.test(title)) return null
    seen.add(field)
    titles[field] = title
  }
  const all = [...Object.values(titles), 'Id', 'CreatedAt', 'UpdatedAt']
  return new Set(all.map((title) => title.toLowerCase())).size === all.length ? titles : null
}
