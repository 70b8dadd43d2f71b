import {
  startOfNextPeriod,
  startOfPeriod,
  type Day,
  type DayCalendar,
  type Granularity,
} from '../../core/formatting/day-calendar.js'
import type { Queryable } from '../../database/database.js'
import type { Amount } from '../amount.js'
import { MAX_COUNTED_EXCEPTIONS, type OrderException } from '../order-filters.js'
import { isCounted, isPaid, ORDER_STATUSES, type OrderStatus } from '../order-status.js'
import { toTimeRange, type DayRange } from './conditions.js'
import type { Dialect } from './dialect.js'
import { EXCEPTION_CODES, fromStatusCode, STATUS_CODES } from './order-row.js'
import { MG_PER_KG, type TotalsRow } from './totals.js'

/** All orders are from days between these two. */
const FIRST_DAY = -1_000_000
const LAST_DAY = 1_000_000

/** Medians are calculated from at most this many orders, so that few rows are read. */
const MAX_MEDIAN_ORDERS = 1_000

const SUMS = (['orders', 'co2e_kg', 'co2e_mg', 'amount_minor'] as const)
  .map((name) => `CAST(sum(${name}) AS BIGINT) AS ${name}`)
  .join(', ')

type StatusTotals = Omit<TotalsRow, 'day'>

/** Amounts of the orders with some statuses, sorted by currency. */
function sumRevenue(
  rows: readonly StatusTotals[],
  hasStatus: (status: OrderStatus) => boolean,
): Amount[] {
  const amounts = new Map<string, number>()
  for (const { status, currency, orders, amount_minor } of rows) {
    if (orders === 0 || !hasStatus(fromStatusCode(status))) continue
    amounts.set(currency, (amounts.get(currency) ?? 0) + amount_minor)
  }
  return [...amounts]
    .map(([currency, amountMinor]) => ({ currency, amountMinor }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

/**
 * Totals of a set of orders: the number of all orders, and the kg CO2e and revenue of those that are
 * not cancelled or refunded.
 */
function sumRows(rows: readonly StatusTotals[]) {
  // Sums integers until the last step, so that the result does not depend on their order.
  let [orders, kilograms, milligrams] = [0, 0, 0]
  for (const row of rows) {
    orders += row.orders
    if (!isCounted(fromStatusCode(row.status))) continue
    kilograms += row.co2e_kg
    milligrams += row.co2e_mg
  }
  const whole = Math.floor(milligrams / MG_PER_KG)
  return {
    orders,
    co2eKg: kilograms + whole + (milligrams - whole * MG_PER_KG) / MG_PER_KG,
    revenue: sumRevenue(rows, isCounted),
  }
}

function countByStatus(
  rows: readonly Pick<StatusTotals, 'status' | 'orders'>[],
): Record<OrderStatus, number> {
  const counts = Object.fromEntries(ORDER_STATUSES.map((status) => [status, 0])) as Record<
    OrderStatus,
    number
  >
  for (const { status, orders } of rows) counts[fromStatusCode(status)] += orders
  return counts
}

function toSummary(rows: readonly StatusTotals[]) {
  return {
    ...sumRows(rows),
    paidRevenue: sumRevenue(rows, isPaid),
    outstandingRevenue: sumRevenue(rows, (status) => status === 'pending'),
    ordersByStatus: countByStatus(rows),
  }
}
export type OrderSummary = ReturnType<typeof toSummary>

/** The median time to fulfilment, where a negative time counts as 0; `null` if there are none. */
function getMedian(times: readonly number[]): number | null {
  const sorted = times.map((time) => Math.max(0, time)).sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  if (upper === undefined) return null
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}

/**
 * Reads statistics by the day on which orders were placed: sums from the totals by day, the others
 * from indexes of the orders.
 *
 * @param tx reads from a snapshot, if several statistics must be consistent
 */
export const createStatistics = (tx: Queryable, calendar: DayCalendar, { indexedBy }: Dialect) => ({
  async getSummary({ from, to }: DayRange) {
    const rows = await tx.query<StatusTotals>(
      `SELECT status, currency, ${SUMS} FROM order_totals
       WHERE day BETWEEN ? AND ? GROUP BY status, currency`,
      [from ?? FIRST_DAY, to ?? LAST_DAY],
    )
    return toSummary(rows)
  },

  async countByStatus({ from, to }: DayRange) {
    const rows = await tx.query<Pick<StatusTotals, 'status' | 'orders'>>(
      `SELECT status, CAST(sum(orders) AS BIGINT) AS orders FROM order_totals
       WHERE day BETWEEN ? AND ? GROUP BY status`,
      [from ?? FIRST_DAY, to ?? LAST_DAY],
    )
    return countByStatus(rows)
  },

  /**
   * The totals of the periods that start between `first` and `last` (inclusive), by first day, and
   * of all these periods. Periods without orders are left out.
   */
  async getTimeline(granularity: Granularity, first: Day, last: Day) {
    const periods: string[] = []
    for (let start = startOfPeriod(granularity, first); start <= last;) {
      const next = startOfNextPeriod(granularity, start)
      periods.push(`(${start}, ${next - 1})`)
      start = next
    }
    const rows = await tx.query<TotalsRow>(
      `WITH periods(start, "end") AS (VALUES ${periods.join(', ')})
       SELECT start AS day, status, currency, ${SUMS}
       FROM periods JOIN order_totals ON day BETWEEN start AND "end"
       GROUP BY start, status, currency HAVING sum(orders) > 0
       ORDER BY start`,
    )
    const byStart = new Map<Day, TotalsRow[]>()
    for (const row of rows) {
      const group = byStart.get(row.day)
      if (group === undefined) byStart.set(row.day, [row])
      else group.push(row)
    }
    return {
      points: new Map([...byStart].map(([start, group]) => [start, { start, ...sumRows(group) }])),
      summary: toSummary(rows),
    }
  },

  /** The days of the first and the last order; `null` if there are no orders. */
  async getDayRange(): Promise<{ from: Day; to: Day } | null> {
    const [row] = await tx.query<{ first: number | null; last: number | null }>(
      `SELECT (SELECT min(placed_at) FROM orders) AS first,
         (SELECT max(placed_at) FROM orders) AS last`,
    )
    if (row === undefined || row.first === null || row.last === null) return null
    return { from: calendar.dayOf(row.first), to: calendar.dayOf(row.last) }
  },

  /** Of the newest fulfilled orders, in ms; `null` if no orders were fulfilled. */
  async getMedianFulfilmentTime(range: DayRange): Promise<number | null> {
    const { since, until } = toTimeRange(range, calendar)
    const rows = await tx.query<{ time: number }>(
      `SELECT fulfilled_at - placed_at AS time FROM orders ${indexedBy('orders_by_fulfilment')}
       WHERE placed_at >= ? AND placed_at < ? AND status = ${STATUS_CODES.fulfilled}
         AND fulfilled_at IS NOT NULL
       ORDER BY placed_at DESC LIMIT ${MAX_MEDIAN_ORDERS}`,
      [since, until],
    )
    return getMedian(rows.map(({ time }) => time))
  },

  /** Number of orders with each exception, counted up to MAX_COUNTED_EXCEPTIONS. */
  async countExceptions(): Promise<Record<OrderException, number>> {
    const counts = Object.entries(EXCEPTION_CODES).map(
      ([name, code]) =>
        `SELECT '${name}' AS name, count(*) AS orders FROM (
           SELECT 1 FROM orders ${indexedBy('orders_by_exception')}
           WHERE exception = ${code} LIMIT ${MAX_COUNTED_EXCEPTIONS}
         ) AS counted`,
    )
    const rows = await tx.query<{ name: string; orders: number }>(counts.join(' UNION ALL '))
    return Object.fromEntries(rows.map(({ name, orders }) => [name, orders])) as Record<
      OrderException,
      number
    >
  },

  /** Number of orders in each currency in use. */
  async countByCurrency(): Promise<Map<string, number>> {
    const rows = await tx.query<{ currency: string; orders: number }>(
      `SELECT currency, CAST(sum(orders) AS BIGINT) AS orders FROM order_totals
       GROUP BY currency HAVING sum(orders) > 0`,
    )
    return new Map(rows.map(({ currency, orders }) => [currency, orders]))
  },
})

export type OrderStatistics = ReturnType<typeof createStatistics>
export type Timeline = Awaited<ReturnType<OrderStatistics['getTimeline']>>
