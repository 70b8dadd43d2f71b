import { setTimeout as sleep } from 'node:timers/promises'

const AWAY_MS = 60_000

/** Lets midnight pass where it is near, for tests that take it that the day stays the same. */
export async function avoidMidnight(timeZone = 'UTC'): Promise<void> {
  const days = new Intl.DateTimeFormat('en', { timeZone })
  const now = Date.now()
  if (days.format(now) !== days.format(now + AWAY_MS)) await sleep(AWAY_MS)
}
