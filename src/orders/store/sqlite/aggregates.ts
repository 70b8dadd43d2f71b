import type { Database } from 'better-sqlite3'
import { startOfPeriod, type Day, type DayCalendar } from '../../../core/formatting/day-calendar.js'
import {
  MG_PER_KG,
  PERIOD_CODES,
  PERIODS,
  toMilligrams,
  type AggregatedRow,
} from '../sql/daily-aggregate.js'

const ADD_TOTALS = `
  INSERT INTO sums VALUES
    (@step, @start, @status, @currency, @orders, @co2e_kg, @co2e_mg, @amount_minor)
  ON CONFLICT DO UPDATE SET
    orders = orders + excluded.orders,
    co2e_kg = co2e_kg + excluded.co2e_kg,
    co2e_mg = co2e_mg + excluded.co2e_mg,
    amount_minor = amount_minor + excluded.amount_minor`

const ADD_COUNTS = `
  INSERT INTO counts VALUES (@step, @start, @status, @calculator_type, @currency, @orders)
  ON CONFLICT DO UPDATE SET orders = orders + excluded.orders`

/** Totals of the orders of one day that have the same status, calculator and currency. */
interface DailyAggregate {
  day: Day
  status: number
  calculator_type: number
  currency: string
  orders: number
  /** Whole kilograms and the remaining milligrams, so that sums are exact and do not overflow */
  co2e_kg: number
  co2e_mg: number
  amount_minor: number
}

function toDailyAggregate(row: AggregatedRow, calendar: DayCalendar): DailyAggregate {
  const milligrams = toMilligrams(row.co2e_kg)
  const kilograms = Math.floor(milligrams / MG_PER_KG)
  return {
    day: calendar.dayOf(row.placed_at),
    status: row.status,
    calculator_type: row.calculator_type,
    currency: row.currency,
    orders: 1,
    co2e_kg: kilograms,
    co2e_mg: milligrams - kilograms * MG_PER_KG,
    amount_minor: row.amount_minor,
  }
}

const negate = (aggregate: DailyAggregate): DailyAggregate => ({
  ...aggregate,
  orders: -aggregate.orders,
  co2e_kg: -aggregate.co2e_kg,
  co2e_mg: -aggregate.co2e_mg,
  amount_minor: -aggregate.amount_minor,
})

/** Updates the aggregates, within the caller's transaction. */
export function createAggregateWriter(db: Database, calendar: DayCalendar) {
  const addTotals = db.prepare(ADD_TOTALS)
  const addCounts = db.prepare(ADD_COUNTS)

  function write({ day, ...aggregate }: DailyAggregate): void {
    for (const period of PERIODS) {
      const start = period === 'all' ? 0 : startOfPeriod(period, day)
      const values = { ...aggregate, step: PERIOD_CODES[period], start }
      addTotals.run(values)
      if (period !== 'week') addCounts.run(values)
    }
  }

  return {
    add: (row: AggregatedRow) => write(toDailyAggregate(row, calendar)),
    /** Removes an order that was added with the same values. */
    remove: (row: AggregatedRow) => write(negate(toDailyAggregate(row, calendar))),
    /**
     * Adds many orders. Reads all rows before it writes, because the connection cannot write while
     * a statement is returning rows.
     */
    addAll(rows: Iterable<AggregatedRow>): void {
      const aggregates = new Map<string, DailyAggregate>()
      for (const row of rows) {
        const aggregate = toDailyAggregate(row, calendar)
        const { day, status, calculator_type, currency } = aggregate
        const key = `${day} ${status} ${calculator_type} ${currency}`
        const existing = aggregates.get(key)
        if (existing === undefined) aggregates.set(key, aggregate)
        else {
          existing.orders += aggregate.orders
          existing.co2e_kg += aggregate.co2e_kg
          existing.co2e_mg += aggregate.co2e_mg
          existing.amount_minor += aggregate.amount_minor
        }
      }
      for (const aggregate of aggregates.values()) write(aggregate)
    },
  }
}

/** Recomputes all aggregates from the orders, for the days of another time zone. */
export function rebuildAggregates(db: Database, calendar: DayCalendar): void {
  db.exec('DELETE FROM sums; DELETE FROM counts')
  const rows = db.prepare<[], AggregatedRow>(
    'SELECT status, calculator_type, currency, co2e_kg, amount_minor, placed_at FROM orders',
  )
  createAggregateWriter(db, calendar).addAll(rows.iterate())
}
