import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import ExcelJS from 'exceljs'
import { openForReading } from '../../src/orders/book/open-database.js'
import { bookPath } from '../../src/orders/book/order-book.js'

// Exports with nothing but the libraries: SQLite's rows joined to lines, and the streaming writer
// of exceljs. What Clearwake's are measured against.

const { PORT, DATA_DIR = '' } = process.env
const db = openForReading(bookPath(DATA_DIR))
const orders = db.prepare('SELECT * FROM orders ORDER BY placed_at DESC, id DESC')
const columns = orders.columns().map(({ name }) => name)
const LINES = 1_000

const rows = () => orders.raw().iterate() as IterableIterator<(string | number | null)[]>

async function csv(response: ServerResponse): Promise<void> {
  let lines = [columns.join(',')]
  for (const row of rows()) {
    lines.push(row.map((value) => `"${value ?? ''}"`).join(','))
    if (lines.length < LINES) continue
    if (!response.write(`${lines.join('\n')}\n`)) await once(response, 'drain')
    lines = []
  }
  response.end(`${lines.join('\n')}\n`)
}

async function excel(response: ServerResponse): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({ stream: response })
  const sheet = workbook.addWorksheet('Orders')
  sheet.addRow(columns).commit()
  let written = 0
  for (const row of rows()) {
    sheet.addRow(row).commit()
    // Lets the socket take what there is.
    if (++written % LINES === 0) await setImmediate()
  }
  sheet.commit()
  await workbook.commit()
}

createServer((request, response) => {
  if (request.url === '/csv') void csv(response)
  else if (request.url === '/xlsx') void excel(response)
  else response.end('ready')
}).listen(Number(PORT), '127.0.0.1')
