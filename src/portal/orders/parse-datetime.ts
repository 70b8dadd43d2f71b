import { Temporal } from 'temporal-polyfill'

/** Years 1900 to 2199, as in orders */
const DATE_TIME = /^(?:19|20|21)\d{2}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?$/

/**
 * Parses a local date and time in a time zone, such as `2026-11-20T09:30`; `null` if it is invalid.
 * A time in a skipped hour is moved one hour later; in a repeated hour, the first one is used.
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
