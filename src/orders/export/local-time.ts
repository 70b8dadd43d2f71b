import { Temporal } from 'temporal-polyfill'

const DAY_MS = 86_400_000

/**
 * Creates a function that converts an ISO timestamp to a Date whose UTC fields are the local time in
 * a time zone. Excel dates have no time zone.
 */
export function createLocalTimeFormat(timeZone: string) {
  const getOffset = (milliseconds: number): number =>
    Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(timeZone)
      .offsetNanoseconds / 1e6

  // Finding an offset is slow, so offsets are cached by day; `null` if the offset changes that day.
  const offsets = new Map<number, number | null>()
  const getDayOffset = (day: number): number | null => {
    let offset = offsets.get(day)
    if (offset === undefined) {
      const startOffset = getOffset(day * DAY_MS)
      offset = startOffset === getOffset((day + 1) * DAY_MS) ? startOffset : null
      offsets.set(day, offset)
    }
    return offset
  }

  return (isoTime: string): Date => {
    const time = Date.parse(isoTime)
    return new Date(time + (getDayOffset(Math.floor(time / DAY_MS)) ?? getOffset(time)))
  }
}
