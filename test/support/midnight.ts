import { setTimeout as sleep } from 'node:timers/promises'

const AWAY_MS = 60_000

/** Waits until midnight has passed if it is near, for tests that assume one day. */
export async function avoidMidnight(timeZone = 'UTC'): Promise<void> {
  const days = new Intl.DateTimeFormat('en', { timeZone })
  const now = Date.now()
  if (days.format(now) !== days.format(now + AWAY_MS)) await sleep(AWAY_MS)
}
