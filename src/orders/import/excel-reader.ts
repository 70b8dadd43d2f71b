import { Readable } from 'node:stream'
import ExcelJS, { type Cell, type CellValue, type Row } from 'exceljs'
import { Temporal } from 'temporal-polyfill'
import { getMinorUnitDigits } from '../../formatting/minor-units.js'
import { escapeFormula } from '../formula-escaping.js'
import { fromExcelText } from '../export/excel-text.js'
import type { CsvRecord } from './csv-reader.js'

const DATE_TITLE = /^(Placed|Created|Updated|Fulfilled|Cancelled|Paid) \((.+)\)$/

/** Reads a cell of one column. Dates of exported workbooks are in the time zone of their title. */
interface SheetColumn {
  name: string
  timeZone: string
  /** Whether the cells are amounts in major units */
  isAmount: boolean
}

function toColumn(title: string): SheetColumn {
  const [, field, timeZone = 'UTC'] = DATE_TITLE.exec(title) ?? []
  const isAmount = title === 'Amount'
  const name = field === undefined ? title : `${field.toLowerCase()}At`
  return { name: isAmount ? 'amountMinor' : name, timeZone, isAmount }
}

/** The value of a cell; of a formula, its result. */
const getValue = ({ value, text }: Cell): CellValue => {
  const result =
    value !== null && typeof value === 'object' && 'result' in value ? value.result : value
  return result instanceof Date || typeof result === 'number' ? result : text
}

/** Excel dates have no time zone: the UTC fields of the Date are the local time. */
const toIsoTime = (local: Date, timeZone: string): string =>
  new Date(
    Temporal.PlainDateTime.from(local.toISOString().slice(0, -1)).toZonedDateTime(timeZone)
      .epochMilliseconds,
  ).toISOString()

function readRow(row: Row, columns: readonly SheetColumn[]): string[] {
  const width = Math.max(columns.length, row.cellCount)
  const values = Array.from({ length: width }, (_, index) => getValue(row.getCell(index + 1)))
  const currency = String(values[columns.findIndex(({ name }) => /^currency$/i.test(name))] ?? '')
  return values.map((value, index) => {
    const { timeZone = 'UTC', isAmount = false } = columns[index] ?? {}
    if (value instanceof Date) return toIsoTime(value, timeZone)
    if (typeof value !== 'number') return escapeFormula(fromExcelText(String(value ?? '')))
    return String(isAmount ? Math.round(value * 10 ** getMinorUnitDigits(currency)) : value)
  })
}

/**
 * Reads the rows of an Excel workbook as records of a CSV file, whose lines are the rows. Reads the
 * first sheet, and the other sheets with the same header.
 */
export async function* readWorkbook(source: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookReader(Readable.from(source), {
    sharedStrings: 'cache',
    styles: 'cache',
    worksheets: 'emit',
  })
  let columns: SheetColumn[] | null = null
  for await (const sheet of workbook) {
    let isHeader = true
    for await (const row of sheet) {
      const titles = isHeader ? readRow(row, []).map(toColumn) : []
      if (isHeader && columns === null) {
        columns = titles
        yield { line: row.number, cells: titles.map(({ name }) => name), error: null }
      } else if (isHeader && JSON.stringify(titles) !== JSON.stringify(columns)) {
        break
      } else if (!isHeader) {
        yield { line: row.number, cells: readRow(row, columns ?? []), error: null }
      }
      isHeader = false
    }
  }
}
