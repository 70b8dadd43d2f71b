import {
  startOfNextPeriod,
  startOfPeriod,
  type Day,
} from '../../../core/formatting/day-calendar.js'
import type { DayRange } from '../../order-statistics.js'
import { PERIOD_CODES, type AggregatePeriod } from './daily-aggregate.js'

export interface AggregateRange {
  period: AggregatePeriod
  first: Day
  last: Day
}

/** All orders are from days between these two. */
export const FIRST_DAY = -1_000_000
export const LAST_DAY = 1_000_000

/**
 * Splits a range into whole months, and single days at its start and end, so that few rows are
 * read.
 */
export function splitRange({ from, to }: DayRange): AggregateRange[] {
  if (from === null && to === null) return [{ period: 'all', first: 0, last: 0 }]
  const first = from ?? FIRST_DAY
  const last = to ?? LAST_DAY
  const firstMonth =
    from === null ? first : startOfNextPeriod('month', startOfPeriod('month', from - 1))
  const endOfMonths = to === null ? last : startOfPeriod('month', to + 1)
  if (firstMonth >= endOfMonths) return [{ period: 'day', first, last }]
  const ranges: AggregateRange[] = [
    { period: 'day', first, last: firstMonth - 1 },
    { period: 'month', first: firstMonth, last: endOfMonths - 1 },
    { period: 'day', first: endOfMonths, last },
  ]
  return ranges.filter((range) => range.first <= range.last)
}

/** Reads the aggregates of a range of days; a group may be returned more than once. */
export const readRange = <T>(
  range: DayRange,
  statement: { all: (step: number, first: Day, last: Day) => T[] },
): T[] =>
  splitRange(range).flatMap(({ period, first, last }) =>
    statement.all(PERIOD_CODES[period], first, last),
  )
