import { parentPort, workerData } from 'node:worker_threads'
import { readOrderRows } from '../orders/store/read-order-rows.js'
import { toOrder, type ReadRow } from '../orders/store/order-row.js'
import { openPaymentReader } from '../payments/payment-reader.js'
import { createChunkedWriter } from './chunked-writer.js'
import type { ExportedOrder } from './excel-columns.js'
import type { ExportTask } from './export-client.js'
import { getPaymentValues } from './payment-columns.js'

/* The worker thread of one export. An uncaught error ends it and is reported to the main thread. */

const task = workerData as ExportTask
const payments = openPaymentReader(task.source)

async function* toOrders(batches: AsyncIterable<ReadRow[]>): AsyncGenerator<ExportedOrder> {
  for await (const rows of batches) {
    const orders = rows.map(toOrder)
    const guestOrders = orders.filter(({ checkout }) => checkout !== null)
    const latest = await payments.find(guestOrders.map(({ id }) => id))
    yield* orders.map((order) =>
      order.checkout === null
        ? order
        : {
            ...order,
            payment: getPaymentValues(order.checkout.paymentMethod, latest.get(order.id)),
          },
    )
  }
}

if (parentPort === null) throw new Error('export-worker must run in a worker thread')
const file = createChunkedWriter(parentPort)
const batches = readOrderRows(task)
// Loaded on demand: exceljs is slow to load.
if (task.format === 'csv') {
  const { writeCsv } = await import('./csv-file.js')
  await writeCsv(batches, file, payments.find)
} else {
  const { writeWorkbook } = await import('./excel-sheet.js')
  await writeWorkbook(toOrders(batches), file, { timeZone: task.timeZone })
}
await payments.close()
parentPort.close()
