import { createDayCalendar } from '../../core/formatting/day-calendar.js'
import { streamRows, type DatabaseSource } from '../../database/stream-rows.js'
import { toOrderBy, toValues, toWhere } from './conditions.js'
import { DIALECTS, type SqlFragment } from './dialect.js'
import { OrderFinder } from './find-orders.js'
import { READ_COLUMNS, type ReadRow } from './order-row.js'
import type { RowQuery } from './order-store.js'
import { toSearchWords } from './search-text.js'
import { matchesWords, toWord } from './search-words.js'

/** A query for all matching orders, sorted. */
function buildRowQuery(
  { timeZone, filters, sort }: RowQuery,
  engine: keyof typeof DIALECTS,
): SqlFragment {
  const dialect = DIALECTS[engine]
  const finder = new OrderFinder(dialect, createDayCalendar(timeZone))
  const words = toSearchWords(filters.q).map(toWord)
  const conditions = finder.toConditions(filters)
  if (words.length > 0) conditions.push(matchesWords(dialect, words))
  const texts = words.length > 0 ? `JOIN ${dialect.texts} ON texts.id = orders.id` : ''
  return {
    sql: `SELECT ${READ_COLUMNS} FROM ${finder.walkIndex(sort, filters)} ${texts}
      ${toWhere(conditions)} ${toOrderBy(sort)}`,
    values: toValues(conditions),
  }
}

/**
 * Reads all matching orders as a consistent snapshot, through a separate connection. Only one batch
 * is in memory at a time.
 */
export const readOrderRows = ({
  source,
  ...query
}: RowQuery & { source: DatabaseSource }): AsyncGenerator<ReadRow[]> =>
  streamRows<ReadRow>(source, buildRowQuery(query, source.type))
