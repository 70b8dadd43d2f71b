import { parentPort, workerData } from 'node:worker_threads'
import { readOrderRows } from '../../order-store/read-order-rows.js'
import { toOrder, type ReadRow } from '../../order-store/sql/order-row.js'
import type { Order } from '../order.js'
import { createChunkedWriter } from './chunked-writer.js'
import type { ExportTask } from './export-client.js'

/* The worker thread of one export. An uncaught error ends it and is reported to the main thread. */

async function* toOrders(batches: AsyncIterable<ReadRow[]>): AsyncGenerator<Order> {
  for await (const rows of batches) yield* rows.map(toOrder)
}

const task = workerData as ExportTask

if (parentPort === null) throw new Error('export-worker must run in a worker thread')
const file = createChunkedWriter(parentPort)
const batches = readOrderRows(task)
// Loaded on demand: exceljs is slow to load.
if (task.format === 'csv') {
  const { writeCsv } = await import('./csv-file.js')
  await writeCsv(batches, file)
} else {
  const { writeWorkbook } = await import('./excel-workbook.js')
  await writeWorkbook(toOrders(batches), file, { timeZone: task.timeZone })
}
parentPort.close()
