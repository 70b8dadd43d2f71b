import { setTimeout as sleep } from 'node:timers/promises'

const MARGIN_MS = 60_000

/** Waits until after midnight if it is near, for tests that require the date not to change. */
export async function avoidMidnight(timeZone = 'UTC'): Promise<void> {
  const dates = new Intl.DateTimeFormat('en', { timeZone })
  const now = Date.now()
  if (dates.format(now) !== dates.format(now + MARGIN_MS)) await sleep(MARGIN_MS)
}
