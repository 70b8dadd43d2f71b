import type { Random } from './random.js'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** From Sunday: most order when a charter week ends or begins. */
const WEEKDAYS = [0.75, 1.05, 0.95, 0.95, 1.05, 1.3, 1.25]

/** How much is ordered on a day, against the average: more each year, most in a Mediterranean July. */
function demand(day: Date, share: number): number {
  const month = day.getUTCMonth() + day.getUTCDate() / 31
  const season = 1 + 0.65 * Math.cos(((month - 6.7) / 12) * 2 * Math.PI)
  return (0.7 + 0.6 * share) * season * (WEEKDAYS[day.getUTCDay()] ?? 1)
}

/**
 * When so many customers ordered, in the days up to now, one after the other. The same for the
 * same chances and the same moment.
 */
export function createTimestamps(by: Random, howMany: number, days: number, now: Date): Date[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const begins = Array.from({ length: days }, (_, i) => today - (days - 1 - i) * DAY_MS)
  let total = 0
  const upTo = begins.map((start, i) => (total += demand(new Date(start), i / days)))
  const moments = Array.from({ length: howMany }, () => {
    const wanted = by.share() * total
    const start = begins[upTo.findIndex((sum) => sum > wanted)] ?? today
    const time = start + by.about(5, 23) * HOUR_MS
    // What today has not come to yet came yesterday.
    return new Date(time > now.getTime() ? time - DAY_MS : time)
  })
  return moments.sort((a, b) => a.getTime() - b.getTime())
}
