import { parentPort, workerData } from 'node:worker_threads'
import { openReadOnly } from '../../database/open-database.js'
import { createOrderFinder } from '../../order-store/sqlite/find-orders.js'
import { toOrder, READ_COLUMNS, type ReadRow } from '../../order-store/sqlite/order-row.js'
import { createDayCalendar } from '../day-calendar.js'
import type { Order } from '../order.js'
import { createChunkedWriter } from './chunked-writer.js'
import type { ExportTask } from './export-client.js'

/* The worker thread of one export. An uncaught error ends it and is reported to the main thread. */

const { path, timeZone, format, filters, sort } = workerData as ExportTask

/** Reads with a single statement, so that the export is a consistent snapshot. */
function* readRows(): Generator<ReadRow> {
  const db = openReadOnly(path)
  try {
    const { sql, values } = createOrderFinder(db, createDayCalendar(timeZone)).all(
      READ_COLUMNS,
      filters,
      sort,
    )
    yield* db
      .prepare<(string | number)[], ReadRow>(sql)
      .raw()
      .iterate(...values)
  } finally {
    db.close()
  }
}

function* readOrders(): Generator<Order> {
  for (const row of readRows()) yield toOrder(row)
}

if (parentPort === null) throw new Error('export-worker must run in a worker thread')
const file = createChunkedWriter(parentPort)
// Loaded on demand: exceljs is slow to load.
if (format === 'csv') {
  const { writeCsv } = await import('./csv-file.js')
  await writeCsv(readRows(), file)
} else {
  const { writeWorkbook } = await import('./excel-workbook.js')
  await writeWorkbook(readOrders(), file, { timeZone })
}
parentPort.close()
