import { parentPort, workerData } from 'node:worker_threads'
import { toOrder } from '../../order-store/sqlite/order-row.js'
import { readOrderRows } from '../../order-store/sqlite/read-order-rows.js'
import type { Order } from '../order.js'
import { createChunkedWriter } from './chunked-writer.js'
import type { ExportTask } from './export-client.js'

/* The worker thread of one export. An uncaught error ends it and is reported to the main thread. */

const task = workerData as ExportTask

function* readOrders(): Generator<Order> {
  for (const row of readOrderRows(task)) yield toOrder(row)
}

if (parentPort === null) throw new Error('export-worker must run in a worker thread')
const file = createChunkedWriter(parentPort)
// Loaded on demand: exceljs is slow to load.
if (task.format === 'csv') {
  const { writeCsv } = await import('./csv-file.js')
  await writeCsv(readOrderRows(task), file)
} else {
  const { writeWorkbook } = await import('./excel-workbook.js')
  await writeWorkbook(readOrders(), file, { timeZone: task.timeZone })
}
parentPort.close()
