import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import ExcelJS from 'exceljs'
import { openReadOnly } from '../../src/database/open-database.js'
import { getOrderStorePath } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { toOrder, READ_COLUMNS, type ReadRow } from '../../src/order-store/sqlite/order-row.js'
import { createExcelColumns } from '../../src/orders/export/excel-columns.js'

// Baseline for exports: joined SQLite rows, and the streaming writer of exceljs.

const { PORT, DATA_DIR = '' } = process.env
const db = openReadOnly(getOrderStorePath(DATA_DIR))
const orders = db
  .prepare<[], ReadRow>(`SELECT ${READ_COLUMNS} FROM orders ORDER BY placed_at DESC, id DESC`)
  .raw()
const columns = orders.columns().map(({ name }) => name)
const LINES = 1_000

async function csv(response: ServerResponse): Promise<void> {
  let lines = [columns.join(',')]
  for (const row of orders.iterate()) {
    lines.push(row.map((value) => `"${value ?? ''}"`).join(','))
    if (lines.length < LINES) continue
    if (!response.write(`${lines.join('\n')}\n`)) await once(response, 'drain')
    lines = []
  }
  response.end(`${lines.join('\n')}\n`)
}

/** The same cells and styles as Clearwake's workbook. */
async function excel(response: ServerResponse): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({ stream: response, useStyles: true })
  const sheet = workbook.addWorksheet('Orders')
  const cells = createExcelColumns('UTC')
  sheet.addRow(cells.map(({ title }) => title)).commit()
  let written = 1
  for (const read of orders.iterate()) {
    const order = toOrder(read)
    const row = sheet.getRow(++written)
    cells.forEach(({ buildCell }, index) => {
      const content = buildCell(order)
      if (content === null) return
      const target = row.getCell(index + 1)
      target.value = content.value
      target.style = content.style
    })
    row.commit()
    // Lets the socket drain.
    if (written % LINES === 0) await setImmediate()
  }
  sheet.commit()
  await workbook.commit()
}

createServer((request, response) => {
  if (request.url === '/csv') void csv(response)
  else if (request.url === '/xlsx') void excel(response)
  else response.end('ready')
}).listen(Number(PORT), '127.0.0.1')
