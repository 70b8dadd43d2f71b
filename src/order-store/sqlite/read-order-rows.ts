import { openReadOnly } from '../../database/open-database.js'
import { createDayCalendar } from '../../orders/day-calendar.js'
import type { OrderFilters, OrderSort } from '../../orders/order-filters.js'
import { createOrderFinder } from './find-orders.js'
import { READ_COLUMNS, type ReadRow } from './order-row.js'

interface Options {
  /** The order database file */
  path: string
  /** Time zone of the date filters */
  timeZone: string
  filters: OrderFilters
  sort: OrderSort
}

/**
 * Reads all matching orders from an order database with a connection of its own. A single statement
 * reads them, so that they are a consistent snapshot.
 */
export function* readOrderRows({ path, timeZone, filters, sort }: Options): Generator<ReadRow> {
  const db = openReadOnly(path)
  try {
    const finder = createOrderFinder(db, createDayCalendar(timeZone))
    const { sql, values } = finder.toQuery(READ_COLUMNS, filters, sort)
    yield* db
      .prepare<(string | number)[], ReadRow>(sql)
      .raw()
      .iterate(...values)
  } finally {
    db.close()
  }
}
