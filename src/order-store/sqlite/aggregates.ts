import type { Database } from 'better-sqlite3'
import {
  startOfNextPeriod,
  startOfPeriod,
  type Day,
  type DayCalendar,
  type Granularity,
} from '../../orders/day-calendar.js'
import { isCounted, ORDER_STATUSES } from '../../orders/order-status.js'
import { toStatusCode, type OrderRow } from './order-row.js'

/** What of an order goes into the sums and counts. */
export type AggregatedRow = Pick<
  OrderRow,
  'status' | 'calculator_type' | 'currency' | 'co2e_kg' | 'amount_minor' | 'placed_at'
>

/** Sums of the orders of one status and currency. CO2e in whole kilograms and, beside them, milligrams. */
export interface Aggregates {
  status: number
  currency: string
  orders: number
  co2e_kg: number
  co2e_mg: number
  amount_minor: number
}

/** Sums of one step and currency; CO2e and money of what counts only. */
export interface TimelineAggregates extends Omit<Aggregates, 'status'> {
  /** First day of the step */
  start: Day
  /** How many of the orders count */
  counted: number
}

/** How many orders there are of one status, calculator and currency. */
export interface GroupCount {
  status: number
  calculator_type: number
  currency: string
  orders: number
}

/** Days from the first to the last, both included; `null` where it is open. */
export interface DayRange {
  from: Day | null
  to: Day | null
}

const STEPS = ['day', 'week', 'month', 'ever'] as const
type RollUpStep = (typeof STEPS)[number]

const stepCode = (step: RollUpStep): number => STEPS.indexOf(step)
const startOf = (step: RollUpStep, day: Day): Day =>
  step === 'ever' ? 0 : startOfPeriod(step, day)

const MG_PER_KG = 1_000_000

/** CO2e of sums, kg. */
export const toKilograms = ({
  co2e_kg,
  co2e_mg,
}: Pick<Aggregates, 'co2e_kg' | 'co2e_mg'>): number => co2e_kg + co2e_mg / MG_PER_KG

const ADD_SUMS = `
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

/** One day's orders of one kind. */
type DayRollUp = Aggregates & GroupCount & { day: Day }

function dayRollUp(row: AggregatedRow, calendar: DayCalendar): DayRollUp {
  const milligrams = Math.round(row.co2e_kg * MG_PER_KG)
  const whole = Math.floor(milligrams / MG_PER_KG)
  return {
    day: calendar.dayOf(row.placed_at),
    status: row.status,
    calculator_type: row.calculator_type,
    currency: row.currency,
    orders: 1,
    co2e_kg: whole,
    co2e_mg: milligrams - whole * MG_PER_KG,
    amount_minor: row.amount_minor,
  }
}

const negative = (rollUp: DayRollUp): DayRollUp => ({
  ...rollUp,
  orders: -rollUp.orders,
  co2e_kg: -rollUp.co2e_kg,
  co2e_mg: -rollUp.co2e_mg,
  amount_minor: -rollUp.amount_minor,
})

function addTo(sum: DayRollUp, { orders, co2e_kg, co2e_mg, amount_minor }: DayRollUp): void {
  sum.orders += orders
  sum.co2e_kg += co2e_kg
  sum.co2e_mg += co2e_mg
  sum.amount_minor += amount_minor
}

/** Keeps sums and counts. All of it runs within the caller's transaction. */
export function createAggregateWriter(db: Database, calendar: DayCalendar) {
  const addSums = db.prepare(ADD_SUMS)
  const addCounts = db.prepare(ADD_COUNTS)

  const write = ({ day, ...rollUp }: DayRollUp): void => {
    for (const step of STEPS) {
      const added = { ...rollUp, step: stepCode(step), start: startOf(step, day) }
      addSums.run(added)
      if (step !== 'week') addCounts.run(added)
    }
  }

  return {
    /** Counts an order in. */
    add: (row: AggregatedRow) => write(dayRollUp(row, calendar)),
    /** Counts an order out, as it was counted in. */
    remove: (row: AggregatedRow) => write(negative(dayRollUp(row, calendar))),
    /** Counts many orders in. They are read to the end before anything is written. */
    addAll(rows: Iterable<AggregatedRow>): void {
      const byDay = new Map<string, DayRollUp>()
      for (const row of rows) {
        const rollUp = dayRollUp(row, calendar)
        const { day, status, calculator_type, currency } = rollUp
        const key = `${day} ${status} ${calculator_type} ${currency}`
        const known = byDay.get(key)
        if (known === undefined) byDay.set(key, rollUp)
        else addTo(known, rollUp)
      }
      for (const rollUp of byDay.values()) write(rollUp)
    },
  }
}

/** Makes sums and counts anew from the orders, for the days of another time zone. */
export function rebuildAggregates(db: Database, calendar: DayCalendar): void {
  db.exec('DELETE FROM sums; DELETE FROM counts')
  const rows = db.prepare<[], AggregatedRow>(
    'SELECT status, calculator_type, currency, co2e_kg, amount_minor, placed_at FROM orders',
  )
  createAggregateWriter(db, calendar).addAll(rows.iterate())
}

interface Stretch {
  step: RollUpStep
  first: Day
  last: Day
}

/** Later and earlier than any day an order can have. */
const FIRST_DAY = -1_000_000
const LAST_DAY = 1_000_000

/** Whole months where a range has them, single days at its edges: few rows for any range. */
function stretches({ from, to }: DayRange): Stretch[] {
  if (from === null && to === null) return [{ step: 'ever', first: 0, last: 0 }]
  const first = from ?? FIRST_DAY
  const last = to ?? LAST_DAY
  const firstMonth =
    from === null ? first : startOfNextPeriod('month', startOfPeriod('month', from - 1))
  const endOfMonths = to === null ? last : startOfPeriod('month', to + 1)
  if (firstMonth >= endOfMonths) return [{ step: 'day', first, last }]
  const parts: Stretch[] = [
    { step: 'day', first, last: firstMonth - 1 },
    { step: 'month', first: firstMonth, last: endOfMonths - 1 },
    { step: 'day', first: endOfMonths, last },
  ]
  return parts.filter((part) => part.first <= part.last)
}

/**
 * Reads sums and counts.
 *
 * @param db a connection that reads only, as a connection’s own writes do not show in its data_version
 */
export function createAggregateReader(db: Database) {
  const sums = db.prepare<[number, Day, Day], Aggregates>(
    `SELECT status, currency, sum(orders) AS orders, sum(co2e_kg) AS co2e_kg,
       sum(co2e_mg) AS co2e_mg, sum(amount_minor) AS amount_minor
     FROM sums WHERE step = ? AND start BETWEEN ? AND ? GROUP BY status, currency`,
  )
  const kindCounts = db.prepare<[number, Day, Day], GroupCount>(
    `SELECT status, calculator_type, currency, sum(orders) AS orders
     FROM counts WHERE step = ? AND start BETWEEN ? AND ?
     GROUP BY status, calculator_type, currency`,
  )
  const uncounted = ORDER_STATUSES.filter((status) => !isCounted(status)).map(toStatusCode)
  const ifCounted = (column: string): string =>
    `sum(CASE WHEN status IN (${uncounted.join(', ')}) THEN 0 ELSE ${column} END)`
  const timeline = db.prepare<[number, Day, Day], TimelineAggregates>(
    `SELECT start, currency, sum(orders) AS orders,
       ${['co2e_kg', 'co2e_mg', 'amount_minor'].map((column) => `${ifCounted(column)} AS ${column}`).join(', ')}, ${ifCounted('orders')} AS counted
     FROM sums WHERE step = ? AND start BETWEEN ? AND ? AND orders > 0
     GROUP BY start, currency`,
  )
  const edge = (direction: 'ASC' | 'DESC') =>
    db
      .prepare<[number], Day>(
        `SELECT start FROM sums WHERE step = ? AND orders > 0 ORDER BY start ${direction} LIMIT 1`,
      )
      .pluck()
  const firstDay = edge('ASC')
  const lastDay = edge('DESC')

  const read = <T>(
    range: DayRange,
    statement: { all: (step: number, first: Day, last: Day) => T[] },
  ): T[] =>
    stretches(range).flatMap(({ step, first, last }) => statement.all(stepCode(step), first, last))

  function countsIn(range: DayRange): GroupCount[] {
    const kinds = new Map<string, GroupCount>()
    for (const count of read(range, kindCounts)) {
      const key = `${count.status} ${count.calculator_type} ${count.currency}`
      const known = kinds.get(key)
      if (known === undefined) kinds.set(key, count)
      else known.orders += count.orders
    }
    return [...kinds.values()].filter(({ orders }) => orders > 0)
  }

  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  // Every list asks for these, and seldom has anybody written since the one before.
  let countsOfAll: { version?: number | undefined; counts: GroupCount[] } = { counts: [] }

  return {
    /** Sums of the orders placed in a range of days, several for one status and currency. */
    sums: (range: DayRange): Aggregates[] => read(range, sums),
    /** Counts of the orders placed in a range of days, one for each kind there is. */
    counts(range: DayRange): readonly GroupCount[] {
      if (range.from !== null || range.to !== null) return countsIn(range)
      const version = dataVersion.get()
      if (version !== countsOfAll.version) countsOfAll = { version, counts: countsIn(range) }
      return countsOfAll.counts
    },
    /** Sums by step and currency, from the one that begins on `first` to the one that begins on `last`. */
    timeline: (step: Granularity, first: Day, last: Day) =>
      timeline.all(stepCode(step), first, last),
    /** The day of the first order; `null` where there is none. */
    firstDay: (): Day | null => firstDay.get(stepCode('day')) ?? null,
    /** The day of the last order; `null` where there is none. */
    lastDay: (): Day | null => lastDay.get(stepCode('day')) ?? null,
  }
}

export type AggregateReader = ReturnType<typeof createAggregateReader>
