import { ImportedOrder, Order } from '../order.js'
import { CALCULATION_COLUMNS, PAYMENT_COLUMNS } from '../spreadsheet-format.js'
import type { ImportError } from './import-errors.js'

export interface CsvRecord {
  /** The line on which the record starts, from 1 */
  line: number
  cells: string[]
  /** How the record violates RFC 4180; do not use `cells` unless this is `null` */
  error: string | null
}

/** No valid cell is nearly this long. In a longer cell, a closing quote is probably missing. */
const MAX_CELL_LENGTH = 1_000_000

const TEXT_AFTER_QUOTE =
  'contains text after a closing quote; write a quote inside a cell as two quotes'
const UNQUOTED_QUOTE = 'contains a quote in an unquoted cell'
const UNCLOSED_QUOTE = 'contains an unclosed quote; the rest of the file was not read'
const CELL_TOO_LONG = `contains an unclosed quote or a cell longer than ${MAX_CELL_LENGTH} characters; the rest of the file was not read`

/**
 * Reads RFC 4180 records, separated by LF or CRLF, from blocks of complete lines.
 *
 * @param separator between cells, one character
 *
 * No library is used, because each error must be reported with its line number in files of any
 * size. fast-csv stops at the first error, has no line numbers and rescans the file after an
 * unclosed quote; csv-parse counts a CRLF inside quotes as two lines.
 */
export function createCsvReader(separator = ',') {
  let line = 1
  let newlines = 0
  let cells: string[] = []
  let error: string | null = null
  let quoted: string | null = null
  let isAborted = false

  function finishRecord(): CsvRecord {
    const record = { line, cells, error }
    line += 1 + newlines
    newlines = 0
    cells = []
    error = null
    return record
  }

  function abort(error: string): CsvRecord {
    isAborted = true
    return { line: line + newlines, cells: [], error }
  }

  return {
    /** Whether reading stopped before the end of the file. */
    isAborted: (): boolean => isAborted,

    *read(text: string): Generator<CsvRecord> {
      let position = 0
      let lineEnd = -1
      /** End of the current cell: the next separator or line break. */
      const findCellEnd = (): number => {
        if (lineEnd < position) lineEnd = text.indexOf('\n', position)
        const comma = text.indexOf(separator, position)
        return comma === -1 || comma > lineEnd ? lineEnd : comma
      }
      /** Text up to `end`, without the CR of a CRLF. */
      const sliceTo = (end: number): string =>
        text.slice(
          position,
          end === lineEnd && text[end - 1] === '\r' && end > position ? end - 1 : end,
        )

      while (position < text.length) {
        if (quoted === null && text[position] === '"') {
          quoted = ''
          position++
        }
        if (quoted === null) {
          const end = findCellEnd()
          const cell = sliceTo(end)
          if (cell.includes('"')) error ??= UNQUOTED_QUOTE
          cells.push(cell)
          position = end
        } else {
          const quote = text.indexOf('"', position)
          quoted += text.slice(position, quote === -1 ? text.length : quote)
          if (quoted.length > MAX_CELL_LENGTH) {
            yield abort(CELL_TOO_LONG)
            return
          }
          if (quote === -1) return
          position = quote + 1
          if (text[position] === '"') {
            quoted += '"'
            position++
            continue
          }
          const end = findCellEnd()
          if (sliceTo(end) !== '') error ??= TEXT_AFTER_QUOTE
          newlines += quoted.split('\n').length - 1
          cells.push(quoted)
          quoted = null
          position = end
        }
        if (text[position] === '\n') yield finishRecord()
        position++
      }
    },

    /** Call at the end of the file; yields an error if a quote is still open. */
    *end(): Generator<CsvRecord> {
      if (quoted !== null && !isAborted) yield abort(UNCLOSED_QUOTE)
    },
  }
}

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
