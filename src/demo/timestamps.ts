import type { Random } from './random.js'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** Relative demand by weekday, from Sunday; highest when charter weeks start or end. */
const WEEKDAYS = [0.75, 1.05, 0.95, 0.95, 1.05, 1.3, 1.25]

/** Relative demand on a day: growing over the period (`progress` 0 to 1), highest in July. */
function getDemand(day: Date, progress: number): number {
  const month = day.getUTCMonth() + day.getUTCDate() / 31
  const season = 1 + 0.65 * Math.cos(((month - 6.7) / 12) * 2 * Math.PI)
  return (0.7 + 0.6 * progress) * season * (WEEKDAYS[day.getUTCDay()] ?? 1)
}

/**
 * Generates order timestamps in the days up to now, in chronological order; deterministic for a
 * random generator and `now`.
 */
export function createTimestamps(random: Random, count: number, days: number, now: Date): Date[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const dayStarts = Array.from({ length: days }, (_, i) => today - (days - 1 - i) * DAY_MS)
  let total = 0
  const cumulative = dayStarts.map((start, i) => (total += getDemand(new Date(start), i / days)))
  const timestamps = Array.from({ length: count }, () => {
    const target = random.fraction() * total
    const start = dayStarts[cumulative.findIndex((sum) => sum > target)] ?? today
    const time = start + random.between(5, 23) * HOUR_MS
    // Move future timestamps to the previous day.
    return new Date(time > now.getTime() ? time - DAY_MS : time)
  })
  return timestamps.sort((a, b) => a.getTime() - b.getTime())
}
