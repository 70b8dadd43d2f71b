import { arrayBuffer } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import ExcelJS, { type Cell, type Row } from 'exceljs'
import { Temporal } from 'temporal-polyfill'
import { getMinorUnitDigits } from '../../core/formatting/money-formatter.js'
import { escapeFormula } from '../../core/formatting/text.js'
import { fromExcelText } from '../spreadsheet-format.js'
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
function getValue({ value, text }: Cell): Date | number | string {
  const isFormula = value !== null && typeof value === 'object' && 'result' in value
  const result = isFormula ? value.result : value
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
  const currency = values[columns.findIndex(({ name }) => /^currency$/i.test(name))]
  return values.map((value, index) => {
    const { timeZone = 'UTC', isAmount = false } = columns[index] ?? {}
    if (value instanceof Date) return toIsoTime(value, timeZone)
    if (typeof value !== 'number') return escapeFormula(fromExcelText(value))
    return String(isAmount ? Math.round(value * 10 ** getMinorUnitDigits(String(currency))) : value)
  })
}

/**
 * Reads the rows of an Excel workbook as records of a CSV file, whose lines are the rows. Reads the
 * first sheet, and the other sheets with the same header. The workbook is read into memory, because
 * the streaming reader of exceljs waits forever for the end of a truncated file.
 */
export async function* readWorkbook(source: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  const workbook = new ExcelJS.Workbook()
  await workbook.xlsx.load(await arrayBuffer(source))
  let columns: SheetColumn[] | null = null
  /** Rows of the sheets read so far, so that each line number occurs once */
  let offset = 0
  for (const sheet of workbook.worksheets) {
    const titles = readRow(sheet.getRow(1), []).map(toColumn)
    if (columns === null) {
      columns = titles
      yield { line: 1, cells: titles.map(({ name }) => name), error: null }
    } else if (!isDeepStrictEqual(titles, columns)) continue
    for (let line = 2; line <= sheet.rowCount; line++) {
      yield { line: offset + line, cells: readRow(sheet.getRow(line), columns), error: null }
    }
    offset += sheet.rowCount
  }
}
