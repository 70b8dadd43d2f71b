import type { Writable } from 'node:stream'
import ExcelJS from 'exceljs'
import { createExcelColumns, type ExportedOrder } from './excel-columns.js'
import { createExcelSheet } from './excel-sheet.js'

const MAX_ROWS = 1_048_576

interface Options {
  /** Time zone of the dates; Excel dates have no time zone */
  timeZone: string
  /** Including the header */
  rowsPerSheet?: number
}

/** Writes orders as an Excel workbook with as many sheets as needed. Ends the stream. */
export async function writeWorkbook(
  orders: Iterable<ExportedOrder> | AsyncIterable<ExportedOrder>,
  file: Writable,
  { timeZone, rowsPerSheet = MAX_ROWS }: Options,
): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    stream: file,
    useStyles: true,
    useSharedStrings: false,
  })
  workbook.creator = 'Clearwake'
  workbook.lastModifiedBy = 'Clearwake'
  workbook.created = workbook.modified = new Date()

  const columns = createExcelColumns(timeZone)
  let sheetCount = 1
  let sheet = createExcelSheet(workbook, 'Orders', columns)
  for await (const order of orders) {
    if (sheet.countRows() === rowsPerSheet) {
      sheet.end()
      sheet = createExcelSheet(workbook, `Orders ${++sheetCount}`, columns)
    }
    await sheet.add(order)
  }
  sheet.end()
  await workbook.commit()
}
