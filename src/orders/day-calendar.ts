import { Temporal } from 'temporal-polyfill'

/** A day, counted from 1 January 1970. */
export type Day = number

/** How coarse a timeline is. Weeks begin on Monday (ISO 8601). */
export type Granularity = 'day' | 'week' | 'month'

const DAY_MS = 86_400_000

/** A day as text, `2026-11-20`. */
export const formatIsoDate = (day: Day): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** The day that a text such as `2026-11-20` names. */
export const parseDay = (date: string): Day => Date.parse(`${date}T00:00:00Z`) / DAY_MS

/** The day on which the step begins that a day lies in. */
export function startOfPeriod(step: Granularity, day: Day): Day {
  if (step === 'day') return day
  // Day 0 was a Thursday.
  if (step === 'week') return day - ((((day + 3) % 7) + 7) % 7)
  return parseDay(`${formatIsoDate(day).slice(0, 8)}01`)
}

/** The first day after the step that begins on a day. */
export function startOfNextPeriod(step: Granularity, start: Day): Day {
  if (step === 'day') return start + 1
  return step === 'week' ? start + 7 : startOfPeriod('month', start + 31)
}

/** The name that a time zone has in all its spellings; `null` where there is no such zone. */
function timeZoneId(timeZone: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch {
    return null
  }
}

/** Whether two names are of one time zone: `Asia/Kolkata` is `asia/calcutta`. */
export function isSameTimeZone(one: string, other: string): boolean {
  if (one === other) return true
  const id = timeZoneId(one)
  return id !== null && id === timeZoneId(other)
}

/** The days of a time zone. */
export interface DayCalendar {
  timeZone: string
  /** The moment a day begins, ms since the epoch */
  startOf(day: Day): number
  /** The day that a moment lies in */
  dayOf(milliseconds: number): Day
}

/**
 * Days as they begin in a time zone: at midnight, or where the clocks skip it, when they go on.
 * A day is all that lies between its own beginning and the next one's, so no moment is in two.
 */
export function createDayCalendar(timeZone: string): DayCalendar {
  const starts = new Map<Day, number>()
  const startOf = (day: Day): number => {
    let start = starts.get(day)
    if (start === undefined) {
      start = Temporal.PlainDate.from(formatIsoDate(day)).toZonedDateTime(
        timeZone,
      ).epochMilliseconds
      starts.set(day, start)
    }
    return start
  }
  const dayOf = (milliseconds: number): Day => {
    // Zones are less than a day away from UTC, save where one skipped a day to change sides.
    let day = Math.floor(milliseconds / DAY_MS) + 1
    while (startOf(day) > milliseconds) day--
    return day
  }
  return { timeZone, startOf, dayOf }
}
