import type { Writable } from 'node:stream'
import ExcelJS from 'exceljs'
import type { Order } from '../order.js'
import { excelColumns } from './excel-columns.js'
import { createExcelSheet } from './excel-sheet.js'

const MOST_ROWS = 1_048_576

interface Options {
  /** Zone of the dates, which Excel keeps without one */
  timeZone: string
  /** How many rows a sheet holds, the header among them */
  rowsPerSheet?: number
}

/** Writes orders as an Excel workbook, on as many sheets as they need. Ends the stream. */
export async function writeWorkbook(
  orders: Iterable<Order>,
  file: Writable,
  { timeZone, rowsPerSheet = MOST_ROWS }: Options,
): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    stream: file,
    useStyles: true,
    useSharedStrings: false,
  })
  workbook.creator = 'Clearwake'
  workbook.lastModifiedBy = 'Clearwake'
  workbook.created = workbook.modified = new Date()

  const columns = excelColumns(timeZone)
  let sheets = 1
  let sheet = createExcelSheet(workbook, 'Orders', columns)
  for (const order of orders) {
    if (sheet.rows() === rowsPerSheet) {
      sheet.end()
      sheet = createExcelSheet(workbook, `Orders ${++sheets}`, columns)
    }
    await sheet.add(order)
  }
  sheet.end()
  await workbook.commit()
}
