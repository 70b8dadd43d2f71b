import type { Database } from 'better-sqlite3'
import type { Day, DayCalendar, Granularity } from '../../orders/day-calendar.js'
import type {
  DayRange,
  OrderStatistics,
  OrderSummary,
  TimelinePoint,
  OrderTotals,
} from '../../orders/order-statistics.js'
import { isCounted } from '../../orders/order-status.js'
import { readRange } from './aggregate-ranges.js'
import { MG_PER_KG, PERIOD_CODES } from './aggregates.js'
import { createGroupCounter } from './group-counts.js'
import { EXCEPTION_CODES, fromStatusCode, STATUS_CODES } from './order-row.js'
import { toTimeRange } from './query-conditions.js'

function getMedian(values: number[]): number | null {
  const sorted = values.sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  if (upper === undefined) return null
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}

/** A median of more orders would read too many rows. */
const MAX_MEDIAN_ORDERS = 1000

interface TotalsRow {
  start: Day
  status: number
  currency: string
  orders: number
  co2e_kg: number
  co2e_mg: number
  amount_minor: number
}

function sumRows(rows: TotalsRow[]): OrderTotals {
  const counted = rows.filter(
    ({ orders, status }) => orders > 0 && isCounted(fromStatusCode(status)),
  )
  // Integers until the last step: the result does not depend on the order of summation.
  let [orders, kilograms, milligrams] = [0, 0, 0]
  const amounts = new Map<string, number>()
  for (const row of rows) orders += row.orders
  for (const { co2e_kg, co2e_mg, currency, amount_minor } of counted) {
    kilograms += co2e_kg
    milligrams += co2e_mg
    amounts.set(currency, (amounts.get(currency) ?? 0) + amount_minor)
  }
  return {
    orders,
    co2eKg: kilograms + milligrams / MG_PER_KG,
    revenue: [...amounts]
      .map(([currency, amountMinor]) => ({ currency, amountMinor }))
      .sort((a, b) => (a.currency < b.currency ? -1 : 1)),
  }
}

/**
 * Reads statistics from the aggregates.
 *
 * @param db a read-only connection
 * @param read runs queries on it in a transaction
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
    const rows = readRange(range, selectTotals)
    const ordersByStatus: OrderSummary['ordersByStatus'] = {
      pending: 0,
      paid: 0,
      processing: 0,
      fulfilled: 0,
      refunded: 0,
      cancelled: 0,
    }
    for (const { status, orders } of rows) ordersByStatus[fromStatusCode(status)] += orders
    return { ...sumRows(rows), ordersByStatus }
  }

  function getTimeline(granularity: Granularity, first: Day, last: Day): Map<Day, TimelinePoint> {
    const rows = selectTimeline.all(PERIOD_CODES[granularity], first, last)
    const rowsByStart = new Map<Day, TotalsRow[]>()
    for (const row of rows) {
      const group = rowsByStart.get(row.start)
      if (group === undefined) rowsByStart.set(row.start, [row])
      else group.push(row)
    }
    return new Map([...rowsByStart].map(([start, group]) => [start, { start, ...sumRows(group) }]))
  }

  function getDayRange(): { from: Day; to: Day } | null {
    const from = firstDay.get(PERIOD_CODES.day)
    const to = lastDay.get(PERIOD_CODES.day)
    return from === undefined || to === undefined ? null : { from, to }
  }

  function getMedianFulfilmentTime(range: DayRange): number | null {
    const { since, until } = toTimeRange(range, calendar)
    return getMedian(
      selectFulfilmentTimes
        .all(since, until, MAX_MEDIAN_ORDERS)
        // An order can be entered after the fact.
        .map((time) => Math.max(0, time)),
    )
  }

  function countByCurrency(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { currency, orders } of countGroups({ from: null, to: null })) {
      counts.set(currency, (counts.get(currency) ?? 0) + orders)
    }
    return counts
  }

  const countExceptions = () => ({
    not_placed: countException(EXCEPTION_CODES.not_placed),
    placement_unknown: countException(EXCEPTION_CODES.placement_unknown),
    differs: countException(EXCEPTION_CODES.differs),
  })

  return {
    getSummary: async (range) => read(() => getSummary(range)),
    getTimeline: async (granularity, first, last) =>
      read(() => getTimeline(granularity, first, last)),
    getDayRange: async () => read(getDayRange),
    getMedianFulfilmentTime: async (range) => read(() => getMedianFulfilmentTime(range)),
    countExceptions: async () => read(countExceptions),
    countByCurrency: async () => read(countByCurrency),
  }
}
