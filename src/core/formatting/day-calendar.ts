import { Temporal } from 'temporal-polyfill'
import { DAY_MS } from '../time.js'

/** Days since 1 January 1970. */
export type Day = number

/** The length of the periods of a timeline. Weeks start on Monday (ISO 8601). */
export type Granularity = 'day' | 'week' | 'month'

/** Formats a day as `2026-11-20`. */
export const formatIsoDate = (day: Day): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Parses a valid date such as `2026-11-20`. */
export const parseDay = (date: string): Day => Date.parse(`${date}T00:00:00Z`) / DAY_MS

/** The first day of the period that contains a day. */
export function startOfPeriod(granularity: Granularity, day: Day): Day {
  if (granularity === 'day') return day
  // Day 0 was a Thursday.
  if (granularity === 'week') return day - ((((day + 3) % 7) + 7) % 7)
  return parseDay(`${formatIsoDate(day).slice(0, 8)}01`)
}

/** The first day of the next period, given the first day of a period. */
export function startOfNextPeriod(granularity: Granularity, start: Day): Day {
  if (granularity === 'day') return start + 1
  return granularity === 'week' ? start + 7 : startOfPeriod('month', start + 31)
}

/** The canonical name of a time zone; `null` if it does not exist. */
function getCanonicalName(timeZone: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch {
    return null
  }
}

/** Whether two names denote the same time zone, such as `Asia/Kolkata` and `asia/calcutta`. */
export function isSameTimeZone(one: string, other: string): boolean {
  if (one === other) return true
  const name = getCanonicalName(one)
  return name !== null && name === getCanonicalName(other)
}

/** Converts between timestamps and the days of a time zone. */
export interface DayCalendar {
  timeZone: string
  /** The start of a day, ms since 1970 */
  startOf(day: Day): number
  /** The day that contains a time, in ms since 1970 */
  dayOf(milliseconds: number): Day
}

/**
 * Creates the calendar of a time zone. A day starts at midnight, or, if a clock change skips
 * midnight, right after the change. It ends where the next day starts.
 */
export function createDayCalendar(timeZone: string): DayCalendar {
  const starts = new Map<Day, number>()
  const startOf = (day: Day): number => {
    let start = starts.get(day)
    if (start === undefined) {
      const date = Temporal.PlainDate.from(formatIsoDate(day))
      start = date.toZonedDateTime(timeZone).epochMilliseconds
      starts.set(day, start)
    }
    return start
  }
  const dayOf = (milliseconds: number): Day => {
    // The local date is at most one day ahead of the UTC date.
    let day = Math.floor(milliseconds / DAY_MS) + 1
    while (startOf(day) > milliseconds) day--
    return day
  }
  return { timeZone, startOf, dayOf }
}

/** Years 1900 to 2199, as in orders */
const DATE_TIME = /^(?:19|20|21)\d{2}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?$/

/**
 * Parses a local date and time in a time zone, such as `2026-11-20T09:30`; `null` if it is invalid.
 * If a clock change skips the time, it is moved later by the length of the change. If the time
 * occurs twice, the first occurrence is used.
 */
export function parseDateTime(text: string, timeZone: string): string | null {
  if (!DATE_TIME.test(text)) return null
  try {
    const local = Temporal.PlainDateTime.from(text.replace(' ', 'T'), { overflow: 'reject' })
    return new Date(local.toZonedDateTime(timeZone).epochMilliseconds).toISOString()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
