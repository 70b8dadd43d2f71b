import { once, type EventEmitter } from 'node:events'
import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import ExcelJS, { type stream, type Worksheet } from 'exceljs'
import { createExcelColumns, type ExcelColumn } from './excel-columns.js'
import { HEADER, ROW } from './excel-styles.js'
import type { Batches, ExportedOrder } from './exported-orders.js'

declare module 'exceljs' {
  interface Worksheet {
    /** Buffer of a streamed sheet, piped into the zip archive. */
    readonly stream: { pipes: readonly SheetOutput[] }
  }
  interface Row {
    /** Default style of the cells of the row. */
    style: Partial<Style>
  }
}

/** exceljs ignores back-pressure, so the length of its output buffer is checked instead. */
interface SheetOutput extends EventEmitter {
  _writableState: { length: number }
}

const MAX_BUFFERED_BYTES = 512 * 1024
/** Yield to the event loop after this many rows, so that compression can proceed. */
const ROWS_PER_TICK = 8
const HEADER_HEIGHT = 22

async function drain(sheet: Worksheet): Promise<void> {
  await setImmediate()
  for (const output of sheet.stream.pipes) {
    if (output._writableState.length > MAX_BUFFERED_BYTES) await once(output, 'drain')
  }
}

/** Adds a sheet with a frozen header row; call `end` after the last order. */
function createExcelSheet(
  workbook: stream.xlsx.WorkbookWriter,
  name: string,
  columns: readonly ExcelColumn[],
) {
  const sheet = workbook.addWorksheet(name, {
    views: [{ state: 'frozen', ySplit: 1 }],
    properties: { defaultRowHeight: 15 },
  })
  sheet.columns = columns.map(({ width }) => ({ width }))
  const header = sheet.getRow(1)
  header.height = HEADER_HEIGHT
  columns.forEach(({ title }, index) => {
    const cell = header.getCell(index + 1)
    cell.value = title
    cell.style = HEADER
  })
  header.commit()
  let rows = 1

  return {
    /** The number of rows, including the header. */
    countRows: (): number => rows,
    /** Adds an order; await the result before adding the next one (back-pressure). */
    add(order: ExportedOrder): Promise<void> | undefined {
      const row = sheet.getRow(++rows)
      row.style = ROW
      columns.forEach((column, index) => {
        const content = column.buildCell(order)
        if (content === null) return
        const cell = row.getCell(index + 1)
        cell.value = content.value
        cell.style = content.style
      })
      row.commit()
      return rows % ROWS_PER_TICK === 0 ? drain(sheet) : undefined
    },
    end(): void {
      sheet.autoFilter = {
        from: { row: 1, column: 1 },
        to: { row: rows, column: columns.length },
      }
      sheet.commit()
    },
  }
}

const MAX_ROWS = 1_048_576

interface Options {
  /** Time zone of the dates; Excel dates have no time zone */
  timeZone: string
  /** Including the header */
  rowsPerSheet?: number
}

/** Writes orders as an Excel workbook with as many sheets as needed. Ends the stream. */
export async function writeWorkbook(
  batches: Batches<ExportedOrder>,
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
  for await (const orders of batches) {
    for (const order of orders) {
      if (sheet.countRows() === rowsPerSheet) {
        sheet.end()
        sheet = createExcelSheet(workbook, `Orders ${++sheetCount}`, columns)
      }
      await sheet.add(order)
    }
  }
  sheet.end()
  await workbook.commit()
}
