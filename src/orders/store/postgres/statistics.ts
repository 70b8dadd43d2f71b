import type { Queryable } from '../../../database/database.js'
import type { DayCalendar } from '../../../core/formatting/day-calendar.js'
import type { OrderStatistics } from '../../order-statistics.js'
import { EXCEPTION_CODES, STATUS_CODES } from '../sql/order-row.js'
import { toTimeRange } from '../sql/query-conditions.js'
import { MAX_MEDIAN_ORDERS, sumByCurrency, toSummary, toTimeline } from '../sql/totals.js'
import type { RowCounts } from './row-counts.js'
import { readGroups, readTimeline, readTotals } from './totals.js'

const ALL_TIME = { from: null, to: null }

/**
 * Reads statistics. Summaries, timelines and currencies come from the totals. The day range, the
 * median and the exceptions come from the orders.
 *
 * @param tx a transaction that reads a snapshot, if several statistics must be consistent
 */
export const createStatistics = (
  tx: Queryable,
  calendar: DayCalendar,
  counts: RowCounts,
): OrderStatistics => ({
  getSummary: async (range) => toSummary(await readTotals(tx, range)),
  getTimeline: async (granularity, first, last) =>
    toTimeline(await readTimeline(tx, granularity, first, last)),
  async getDayRange() {
    const [row] = await tx.query<{ first: number | null; last: number | null }>(
      'SELECT min(placed_at) AS first, max(placed_at) AS last FROM orders',
    )
    if (row === undefined || row.first === null || row.last === null) return null
    return { from: calendar.dayOf(row.first), to: calendar.dayOf(row.last) }
  },
  async getMedianFulfilmentTime(range) {
    const { since, until } = toTimeRange(range, calendar)
    // A negative time counts as 0, because an order can be recorded after its fulfilment.
    const [row] = await tx.query<{ median: number | null }>(
      `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY greatest(0, fulfilled_at - placed_at)) AS median
       FROM (
         SELECT placed_at, fulfilled_at FROM orders
         WHERE placed_at >= ? AND placed_at < ? AND status = ${STATUS_CODES.fulfilled}
           AND fulfilled_at IS NOT NULL
         ORDER BY placed_at DESC LIMIT ${MAX_MEDIAN_ORDERS}
       ) AS newest`,
      [since, until],
    )
    return row?.median ?? null
  },
  async countExceptions() {
    const rows = await counts.countByKey(
      tx,
      'SELECT exception AS key FROM orders WHERE exception IS NOT NULL',
    )
    const count = (code: number) => rows.find(({ key }) => key === code)?.count ?? 0
    return {
      not_placed: count(EXCEPTION_CODES.not_placed),
      placement_unknown: count(EXCEPTION_CODES.placement_unknown),
      differs: count(EXCEPTION_CODES.differs),
      not_refunded: count(EXCEPTION_CODES.not_refunded),
      no_evidence: count(EXCEPTION_CODES.no_evidence),
    }
  },
  countByCurrency: async () => sumByCurrency(await readGroups(tx, ALL_TIME)),
})
