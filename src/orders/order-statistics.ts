import type { Day, Granularity } from '../core/formatting/day-calendar.js'
import type { OrderException } from './order-filters.js'
import type { OrderStatus } from './order-status.js'

/** A range of days, including both ends; `null` leaves an end open. */
export interface DayRange {
  from: Day | null
  to: Day | null
}

/** An amount of money in minor units of its currency. */
export interface CurrencyAmount {
  currency: string
  amountMinor: number
}

/** Totals of a set of orders. */
export interface OrderTotals {
  /** Orders of any status */
  orders: number
  /** kg CO2e, excluding cancelled and refunded orders */
  co2eKg: number
  /** Sorted by currency, excluding cancelled and refunded orders */
  revenue: CurrencyAmount[]
}

export interface OrderSummary extends OrderTotals {
  /** The parts of `revenue` that are paid and still to be paid */
  paidRevenue: CurrencyAmount[]
  outstandingRevenue: CurrencyAmount[]
  ordersByStatus: Record<OrderStatus, number>
}

/** The totals of one day, week or month. */
export interface TimelinePoint extends OrderTotals {
  /** First day of the period */
  start: Day
}

/** Reads statistics by the day on which orders were placed. */
export interface OrderStatistics {
  getSummary: (range: DayRange) => Promise<OrderSummary>
  /**
   * The periods that start between `first` and `last` (inclusive), by first day. Periods without
   * orders are left out.
   */
  getTimeline: (granularity: Granularity, first: Day, last: Day) => Promise<Map<Day, TimelinePoint>>
  /** The days of the first and the last order; `null` if there are no orders. */
  getDayRange: () => Promise<{ from: Day; to: Day } | null>
  /**
   * Median time from order to fulfilment of the newest fulfilled orders, in ms; `null` if no orders
   * were fulfilled.
   */
  getMedianFulfilmentTime: (range: DayRange) => Promise<number | null>
  /** Number of orders with each exception. */
  countExceptions: () => Promise<Record<OrderException, number>>
  /** Number of orders in each currency in use. */
  countByCurrency: () => Promise<Map<string, number>>
}
