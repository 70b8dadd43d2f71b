import { Temporal } from 'temporal-polyfill'

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
