import { openReadOnly } from '../../../database/open-database.js'
import { createDayCalendar } from '../../../core/formatting/day-calendar.js'
import type { RowQuery } from '../order-store.js'
import { READ_COLUMNS, type ReadRow } from '../sql/order-row.js'
import { createOrderFinder } from './find-orders.js'

const BATCH_SIZE = 500

/** Reads all matching orders from a file, with a single statement. */
export function* readSqliteRows(
  path: string,
  { timeZone, filters, sort }: RowQuery,
): Generator<ReadRow[]> {
  const db = openReadOnly(path)
  try {
    const finder = createOrderFinder(db, createDayCalendar(timeZone))
    const { sql, values } = finder.toQuery(READ_COLUMNS, filters, sort)
    const rows = db
      .prepare<(string | number)[], ReadRow>(sql)
      .raw()
      .iterate(...values)
    let batch: ReadRow[] = []
    for (const row of rows) {
      batch.push(row)
      if (batch.length < BATCH_SIZE) continue
      yield batch
      batch = []
    }
    yield batch
  } finally {
    db.close()
  }
}
