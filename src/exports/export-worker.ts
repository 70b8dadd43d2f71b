import { parentPort, workerData } from 'node:worker_threads'
import { readOrderRows } from '../orders/store/find-orders.js'
import { openPaymentReader } from '../payments/payment-store.js'
import { createChunkedWriter, type ExportTask } from './export-thread.js'
import { addPayments, toExportedOrders } from './exported-orders.js'

/* The worker thread of one export. An uncaught error ends it and is reported to the main thread. */

const task = workerData as ExportTask
if (parentPort === null) throw new Error('export-worker must run in a worker thread')
const payments = openPaymentReader(task.source)
const rows = addPayments(readOrderRows(task), payments)
const file = createChunkedWriter(parentPort)
// Loaded on demand: exceljs is slow to load.
if (task.format === 'csv') {
  const { writeCsv } = await import('./csv-file.js')
  await writeCsv(rows, file)
} else {
  const { writeWorkbook } = await import('./excel-file.js')
  await writeWorkbook(toExportedOrders(rows), file, { timeZone: task.timeZone })
}
await payments.close()
parentPort.close()
