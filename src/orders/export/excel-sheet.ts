import { once, type EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type { stream, Worksheet } from 'exceljs'
import type { Order } from '../order.js'
import type { ExcelColumn } from './excel-columns.js'
import { HEADER, PLAIN } from './excel-styles.js'

declare module 'exceljs' {
  interface Worksheet {
    /** Where a sheet of a streamed workbook is poured, on its way into the archive. */
    readonly stream: { pipes: readonly Poured[] }
  }
  interface Row {
    /** What cells of the row look like that say nothing else. */
    style: Partial<Style>
  }
}

/** exceljs pours without regard to what can be taken, so we look at what has piled up. */
interface Poured extends EventEmitter {
  _writableState: { length: number }
}

/** Enough for the compression to be at work while rows are made. */
const MOST_PILED_UP = 512 * 1024
/**
 * After so many rows the event loop has a turn, in which the compression, which runs in threads of
 * its own, hands over what it has done and takes what there is to do.
 */
const ROWS_IN_A_TURN = 8
const HEADER_HEIGHT = 22

async function untilTaken(sheet: Worksheet): Promise<void> {
  await setImmediate()
  for (const poured of sheet.stream.pipes) {
    if (poured._writableState.length > MOST_PILED_UP) await once(poured, 'drain')
  }
}

/** Begins a sheet of orders: header, frozen; rows are added and the sheet is ended. */
export function createExcelSheet(
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
    /** Rows so far, with the header. */
    rows: (): number => rows,
    /** Adds an order; what comes back, now and then, settles when there is room for the next one. */
    add(order: Order): Promise<void> | undefined {
      const row = sheet.getRow(++rows)
      row.style = PLAIN
      columns.forEach((column, index) => {
        const content = column.cell(order)
        if (content === null) return
        const cell = row.getCell(index + 1)
        cell.value = content.value
        cell.style = content.style
      })
      row.commit()
      return rows % ROWS_IN_A_TURN === 0 ? untilTaken(sheet) : undefined
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
