import { Temporal } from 'temporal-polyfill'

/** Of the years that orders have, 1900 to 2199. */
const WRITTEN = /^(?:19|20|21)\d{2}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?$/

/**
 * Reads a date and time of day as they are in a time zone, such as `2026-11-20T09:30`; `null`
 * where it is none. An hour that the clocks skip is the one after; of one that they repeat, the
 * first.
 */
export function parseDateTime(text: string, timeZone: string): string | null {
  if (!WRITTEN.test(text)) return null
  try {
    const local = Temporal.PlainDateTime.from(text.replace(' ', 'T'), { overflow: 'reject' })
    return new Date(local.toZonedDateTime(timeZone).epochMilliseconds).toISOString()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
