import { openPostgresCursor } from '../../../database/postgres.js'
import { createDayCalendar } from '../../../core/formatting/day-calendar.js'
import type { RowQuery } from '../order-store.js'
import type { ReadRow } from '../sql/order-row.js'
import { toQuery } from './find-orders.js'

const BATCH_SIZE = 1_000

/** Reads all matching orders through a server-side cursor. */
export function readPostgresRows(
  url: string,
  { timeZone, filters, sort }: RowQuery,
): AsyncGenerator<ReadRow[]> {
  const query = toQuery(filters, sort, createDayCalendar(timeZone))
  return openPostgresCursor<ReadRow>(url, query, BATCH_SIZE)
}
