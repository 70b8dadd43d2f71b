import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import ExcelJS from 'exceljs'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { openReadOnly } from '../../src/database/open-database.js'
import { createExcelColumns } from '../../src/exports/excel-file.js'
import { READ_COLUMNS, toOrder, type ReadRow } from '../../src/orders/store/order-row.js'

// The baseline for exports, with the libraries alone: SQLite rows joined into lines, and the
// streaming writer of exceljs.

const { PORT, DATA_DIR = '' } = process.env
const db = openReadOnly(getDatabasePath(DATA_DIR))
const orders = db.prepare<[], ReadRow>(
  `SELECT ${READ_COLUMNS} FROM orders ORDER BY placed_at DESC, id DESC`,
)
const columns = orders.columns().map(({ name }) => name)
const LINES_PER_CHUNK = 1_000

async function sendCsv(response: ServerResponse): Promise<void> {
  let lines = [columns.join(',')]
  for (const row of orders.iterate()) {
    lines.push(
      Object.values(row)
        .map((value) => `"${value ?? ''}"`)
        .join(','),
    )
    if (lines.length < LINES_PER_CHUNK) continue
    if (!response.write(`${lines.join('\n')}\n`)) await once(response, 'drain')
    lines = []
  }
  response.end(`${lines.join('\n')}\n`)
}

/** Writes the same cells in the same styles, without back-pressure. */
async function sendExcel(response: ServerResponse): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({ stream: response, useStyles: true })
  const sheet = workbook.addWorksheet('Orders')
  const excelColumns = createExcelColumns('UTC')
  sheet.addRow(excelColumns.map(({ title }) => title)).commit()
  let written = 1
  for (const orderRow of orders.iterate()) {
    const order = toOrder(orderRow)
    const row = sheet.getRow(++written)
    excelColumns.forEach(({ buildCell }, index) => {
      const content = buildCell(order)
      if (content === null) return
      const cell = row.getCell(index + 1)
      cell.value = content.value
      cell.style = content.style
    })
    row.commit()
    // Lets the socket send.
    if (written % LINES_PER_CHUNK === 0) await setImmediate()
  }
  sheet.commit()
  await workbook.commit()
}

createServer((request, response) => {
  if (request.url === '/csv') void sendCsv(response)
  else if (request.url === '/xlsx') void sendExcel(response)
  else response.end('ready')
}).listen(Number(PORT), '127.0.0.1')
