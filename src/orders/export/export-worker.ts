import { parentPort, workerData } from 'node:worker_threads'
import { dayCalendar } from '../book/day-calendar.js'
import { openForReading } from '../book/open-database.js'
import { orderFinder } from '../book/order-finder.js'
import { orderOf, READ_COLUMNS, type ReadRow } from '../book/order-row.js'
import type { Order } from '../order.js'
import { chunkSender } from './chunk-sender.js'
import type { ExportTask } from './export-thread.js'

/* The thread of one export. What it throws ends it, and is told where it was started. */

const { path, timeZone, format, filters, sort } = workerData as ExportTask

/** All of them by one statement, so they are as they were at one moment. */
function* matchingRows(): Generator<ReadRow> {
  const db = openForReading(path)
  try {
    const { sql, values } = orderFinder(db, dayCalendar(timeZone)).all(READ_COLUMNS, filters, sort)
    yield* db
      .prepare<(string | number)[], ReadRow>(sql)
      .raw()
      .iterate(...values)
  } finally {
    db.close()
  }
}

function* matchingOrders(): Generator<Order> {
  for (const row of matchingRows()) yield orderOf(row)
}

if (parentPort === null) throw new Error('an export runs in a thread of its own')
const file = chunkSender(parentPort)
// Only what the format needs is loaded, as exceljs takes its time.
if (format === 'csv') {
  const { writeCsv } = await import('./csv-file.js')
  await writeCsv(matchingRows(), file)
} else {
  const { writeWorkbook } = await import('./excel-workbook.js')
  await writeWorkbook(matchingOrders(), file, { timeZone })
}
parentPort.close()
