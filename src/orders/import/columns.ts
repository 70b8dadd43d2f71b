import { ImportedOrder, Order } from '../order.js'
import { CALCULATION_COLUMNS, PAYMENT_COLUMNS } from '../spreadsheet-format.js'
import type { ImportError } from './import-errors.js'

/** A column of an import file; named after a field of an order. */
export type Column = keyof ImportedOrder

const COLUMNS = Object.keys(Order.properties) as Column[]
const REQUIRED: readonly Column[] = ImportedOrder.required

/** Columns of an export that are not part of an order. */
const IGNORED: readonly string[] = [
  ...PAYMENT_COLUMNS,
  ...CALCULATION_COLUMNS,
  'Payment amount',
  'Refunded',
  'Dispute',
  'Checkout session',
  'Payment intent',
  'Factor edition',
]

/** Ignores case, spaces and punctuation: `Vessel Name` and `VESSEL_NAME` are `vesselName`. */
const normalize = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Titles of exported workbooks that differ from the names of the fields. */
const TITLES: Record<string, Column> = {
  Customer: 'customerName',
  Email: 'customerEmail',
  Vessel: 'vesselName',
  Calculator: 'calculatorType',
  'Trip data': 'calculatorData',
  'Provider order ID': 'orderSourceId',
}
const NAMES = new Map<string, Column>([
  ...COLUMNS.map((column) => [normalize(column), column] as const),
  ...Object.entries(TITLES).map(([title, column]) => [normalize(title), column] as const),
])
const IGNORED_NAMES = new Set(IGNORED.map(normalize))

const findColumn = (name: string): Column | undefined => NAMES.get(normalize(name))

/** Whether a header line split by this separator contains at least one known column name. */
export const hasColumnName = (header: string, separator: string): boolean =>
  header.split(separator).some((name) => findColumn(name) !== undefined)

const WRONG_SEPARATORS: [character: string, name: string][] = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
]

/** The name of the separator that a header uses instead of commas; `null` if there is none. */
export const findWrongSeparator = (header: string): string | null =>
  WRONG_SEPARATORS.find(
    ([character]) => header.includes(character) && hasColumnName(header, character),
  )?.[1] ?? null

function describeUnknownColumn(name: string): string {
  if (name === '') return 'header contains a column without a name'
  const separator = findWrongSeparator(name)
  return separator === null ? 'is not a known column' : `is separated by ${separator}; use commas`
}

export interface Header {
  /** Column of each cell; `null` if unknown */
  columns: (Column | null)[]
  /** Required columns that are missing */
  missing: ReadonlySet<string>
}

/** Parses the header record; returns every error in it. */
export function parseHeader(
  line: number,
  cells: string[],
): { header: Header; errors: ImportError[] } {
  const errors: ImportError[] = []
  const known = new Set<Column>()
  const columns = cells.map((name): Column | null => {
    const column = findColumn(name)
    if (column === undefined && IGNORED_NAMES.has(normalize(name))) return null
    if (column === undefined) {
      errors.push({
        line,
        column: name === '' ? null : name,
        message: describeUnknownColumn(name),
      })
      return null
    }
    if (known.has(column)) {
      errors.push({ line, column, message: 'is a duplicate column' })
      return null
    }
    known.add(column)
    return column
  })
  const missing = new Set<string>(REQUIRED.filter((name) => !known.has(name)))
  for (const column of missing) {
    errors.push({ line, column, message: 'is missing from the header' })
  }
  return { header: { columns, missing }, errors }
}
