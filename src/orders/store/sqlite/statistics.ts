import type { Database } from 'better-sqlite3'
import type { Day, DayCalendar, Granularity } from '../../../core/formatting/day-calendar.js'
import type {
  DayRange,
  OrderStatistics,
  OrderSummary,
  TimelinePoint,
} from '../../order-statistics.js'
import { readRange } from '../sql/aggregate-ranges.js'
import { PERIOD_CODES } from '../sql/daily-aggregate.js'
import {
  getMedianTime,
  MAX_MEDIAN_ORDERS,
  sumByCurrency,
  toSummary,
  toTimeline,
  type TotalsRow,
} from '../sql/totals.js'
import { createGroupCounter } from './group-counts.js'
import { EXCEPTION_CODES, STATUS_CODES } from '../sql/order-row.js'
import { toTimeRange } from '../sql/query-conditions.js'

/**
 * Reads statistics. Summaries, timelines, the day range and currencies come from the aggregates.
 * The median and the exceptions come from indexes on the orders.
 *
 * @param db a read-only connection
 * @param read runs queries on `db` in a transaction
 */
export function createStatistics(
  db: Database,
  calendar: DayCalendar,
  read: <T>(query: () => T) => T,
): OrderStatistics {
  const countGroups = createGroupCounter(db)
  const selectTotals = db.prepare<[number, Day, Day], TotalsRow>(
    `SELECT 0 AS start, status, currency, sum(orders) AS orders, sum(co2e_kg) AS co2e_kg,
       sum(co2e_mg) AS co2e_mg, sum(amount_minor) AS amount_minor
     FROM sums WHERE step = ? AND start BETWEEN ? AND ? GROUP BY status, currency`,
  )
  const selectTimeline = db.prepare<[number, Day, Day], TotalsRow>(
    `SELECT start, status, currency, orders, co2e_kg, co2e_mg, amount_minor
     FROM sums WHERE step = ? AND start BETWEEN ? AND ? AND orders > 0 ORDER BY start`,
  )
  const selectDay = (direction: 'ASC' | 'DESC') =>
    db
      .prepare<[number], Day>(
        `SELECT start FROM sums WHERE step = ? AND orders > 0 ORDER BY start ${direction} LIMIT 1`,
      )
      .pluck()
  const selectFulfilmentTimes = db
    .prepare<[number, number, number], number>(
      `SELECT fulfilled_at - placed_at FROM orders INDEXED BY orders_by_placed_at
       WHERE placed_at >= ? AND placed_at < ? AND status = ${STATUS_CODES.fulfilled}
         AND fulfilled_at IS NOT NULL
       ORDER BY placed_at DESC LIMIT ?`,
    )
    .pluck()
  const selectExceptions = db
    .prepare<[number], number>(
      'SELECT count(*) FROM orders INDEXED BY orders_by_exception WHERE exception = ?',
    )
    .pluck()
  const countException = (code: number): number => selectExceptions.get(code) ?? 0
  const firstDay = selectDay('ASC')
  const lastDay = selectDay('DESC')

  function getSummary(range: DayRange): OrderSummary {
    return toSummary(readRange(range, selectTotals))
  }

  function getTimeline(granularity: Granularity, first: Day, last: Day): Map<Day, TimelinePoint> {
    return toTimeline(selectTimeline.all(PERIOD_CODES[granularity], first, last))
  }

  function getDayRange(): { from: Day; to: Day } | null {
    const from = firstDay.get(PERIOD_CODES.day)
    const to = lastDay.get(PERIOD_CODES.day)
    return from === undefined || to === undefined ? null : { from, to }
  }

  function getMedianFulfilmentTime(range: DayRange): number | null {
    const { since, until } = toTimeRange(range, calendar)
    return getMedianTime(selectFulfilmentTimes.all(since, until, MAX_MEDIAN_ORDERS))
  }

  const countExceptions = () => ({
    not_placed: countException(EXCEPTION_CODES.not_placed),
    placement_unknown: countException(EXCEPTION_CODES.placement_unknown),
    differs: countException(EXCEPTION_CODES.differs),
    not_refunded: countException(EXCEPTION_CODES.not_refunded),
    no_evidence: countException(EXCEPTION_CODES.no_evidence),
  })

  return {
    getSummary: async (range) => read(() => getSummary(range)),
    getTimeline: async (granularity, first, last) =>
      read(() => getTimeline(granularity, first, last)),
    getDayRange: async () => read(getDayRange),
    getMedianFulfilmentTime: async (range) => read(() => getMedianFulfilmentTime(range)),
    countExceptions: async () => read(countExceptions),
    countByCurrency: async () => read(() => sumByCurrency(countGroups({ from: null, to: null }))),
  }
}
