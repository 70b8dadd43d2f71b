import { Temporal } from 'temporal-polyfill'

const DAY_MS = 86_400_000

/**
 * Clocks on the wall of a time zone: a moment becomes the date whose UTC reads as they do, which
 * is how Excel, which knows no time zones, takes a date.
 */
export function createLocalTimeFormat(timeZone: string) {
  const offsetAt = (milliseconds: number): number =>
    Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(timeZone)
      .offsetNanoseconds / 1e6

  // Looking an offset up takes long, and most days have but one.
  const offsets = new Map<number, number | null>()
  const offsetOf = (day: number): number | null => {
    let offset = offsets.get(day)
    if (offset === undefined) {
      const atStart = offsetAt(day * DAY_MS)
      offset = atStart === offsetAt((day + 1) * DAY_MS) ? atStart : null
      offsets.set(day, offset)
    }
    return offset
  }

  return (isoTime: string): Date => {
    const moment = Date.parse(isoTime)
    return new Date(moment + (offsetOf(Math.floor(moment / DAY_MS)) ?? offsetAt(moment)))
  }
}
