import type { Day } from '../../../core/formatting/day-calendar.js'
import type {
  CurrencyAmount,
  OrderSummary,
  OrderTotals,
  TimelinePoint,
} from '../../order-statistics.js'
import { isCounted, isPaid, type OrderStatus } from '../../order-status.js'
import { MG_PER_KG, type GroupCount } from './daily-aggregate.js'
import { fromStatusCode } from './order-row.js'

/** Totals of the orders in a period that have the same status and currency. */
export interface TotalsRow {
  start: Day
  status: number
  currency: string
  orders: number
  /** Whole kilograms and the remaining milligrams, so that sums are exact and do not overflow */
  co2e_kg: number
  co2e_mg: number
  amount_minor: number
}

const selectRows = (rows: TotalsRow[], hasStatus: (status: OrderStatus) => boolean) =>
  rows.filter(({ orders, status }) => orders > 0 && hasStatus(fromStatusCode(status)))

/** Amounts of the orders with some statuses, sorted by currency. */
function sumRevenue(
  rows: TotalsRow[],
  hasStatus: (status: OrderStatus) => boolean,
): CurrencyAmount[] {
  const amounts = new Map<string, number>()
  for (const { currency, amount_minor } of selectRows(rows, hasStatus)) {
    amounts.set(currency, (amounts.get(currency) ?? 0) + amount_minor)
  }
  return [...amounts]
    .map(([currency, amountMinor]) => ({ currency, amountMinor }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

function sumRows(rows: TotalsRow[]): OrderTotals {
  const counted = selectRows(rows, isCounted)
  // Sums integers until the last step, so that the result does not depend on the order of
  // summation.
  let [orders, kilograms, milligrams] = [0, 0, 0]
  for (const row of rows) orders += row.orders
  for (const { co2e_kg, co2e_mg } of counted) {
    kilograms += co2e_kg
    milligrams += co2e_mg
  }
  return {
    orders,
    co2eKg: kilograms + milligrams / MG_PER_KG,
    revenue: sumRevenue(rows, isCounted),
  }
}

/** Totals of a range of days; several rows may belong to the same group. */
export function toSummary(rows: TotalsRow[]): OrderSummary {
  const ordersByStatus: OrderSummary['ordersByStatus'] = {
    pending: 0,
    paid: 0,
    processing: 0,
    fulfilled: 0,
    refunded: 0,
    cancelled: 0,
  }
  for (const { status, orders } of rows) ordersByStatus[fromStatusCode(status)] += orders
  return {
    ...sumRows(rows),
    paidRevenue: sumRevenue(rows, isPaid),
    outstandingRevenue: sumRevenue(rows, (status) => status === 'pending'),
    ordersByStatus,
  }
}

/** Totals by the first day of their period. */
export function toTimeline(rows: TotalsRow[]): Map<Day, TimelinePoint> {
  const rowsByStart = new Map<Day, TotalsRow[]>()
  for (const row of rows) {
    const group = rowsByStart.get(row.start)
    if (group === undefined) rowsByStart.set(row.start, [row])
    else group.push(row)
  }
  return new Map([...rowsByStart].map(([start, group]) => [start, { start, ...sumRows(group) }]))
}

/** Number of orders by currency. */
export function sumByCurrency(groups: readonly GroupCount[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { currency, orders } of groups) {
    counts.set(currency, (counts.get(currency) ?? 0) + orders)
  }
  return counts
}

/** Medians are calculated from at most this many orders, so that few rows are read. */
export const MAX_MEDIAN_ORDERS = 1000

/**
 * The median time to fulfilment, where a negative time counts as 0; `null` if there are no times.
 */
export function getMedianTime(times: number[]): number | null {
  const sorted = times.map((time) => Math.max(0, time)).sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  if (upper === undefined) return null
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}
