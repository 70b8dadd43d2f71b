import { parentPort, workerData } from 'node:worker_threads'
import { createDayCalendar } from '../day-calendar.js'
import { openReadOnly } from '../../database/open-database.js'
import { createOrderFinder } from '../../order-store/sqlite/find-orders.js'
import { toOrder, READ_COLUMNS, type ReadRow } from '../../order-store/sqlite/order-row.js'
import type { Order } from '../order.js'
import { createChunkedWriter } from './chunked-writer.js'
import type { ExportTask } from './export-client.js'

/* The thread of one export. What it throws ends it, and is told where it was started. */

const { path, timeZone, format, filters, sort } = workerData as ExportTask

/** All of them by one statement, so they are as they were at one moment. */
function* matchingRows(): Generator<ReadRow> {
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

function* matchingOrders(): Generator<Order> {
  for (const row of matchingRows()) yield toOrder(row)
}

if (parentPort === null) throw new Error('an export runs in a thread of its own')
const file = createChunkedWriter(parentPort)
// Only what the format needs is loaded, as exceljs takes its time.
if (format === 'csv') {
  const { writeCsv } = await import('./csv-file.js')
  await writeCsv(matchingRows(), file)
} else {
  const { writeWorkbook } = await import('./excel-workbook.js')
  await writeWorkbook(matchingOrders(), file, { timeZone })
}
parentPort.close()
