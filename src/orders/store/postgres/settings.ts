import type { Queryable } from '../../../database/database.js'
import type { Postgres } from '../../../database/postgres.js'
import { Problem } from '../../../core/http/problem.js'
import { createDayCalendar, isSameTimeZone } from '../../../core/formatting/day-calendar.js'
import { recountTotals } from '../totals.js'

async function readTimeZone(tx: Queryable, suffix = ''): Promise<string> {
  const [row] = await tx.query<{ value: string }>(
    `SELECT value FROM settings WHERE name = 'time_zone' ${suffix}`,
  )
  return row?.value ?? ''
}

/** Throws a Problem (503) if another process has changed the time zone of the totals. */
export async function checkTimeZone(tx: Queryable, timeZone: string): Promise<void> {
  const current = await readTimeZone(tx)
  if (isSameTimeZone(current, timeZone)) return
  throw new Problem(
    503,
    `Another process uses the order database with TIME_ZONE ${current}, this one with ${timeZone}: set the same TIME_ZONE for all processes.`,
  )
}

/** Sets the time zone of a database; recomputes its totals if the time zone changes. */
export async function setTimeZone(postgres: Postgres, timeZone: string): Promise<void> {
  const calendar = createDayCalendar(timeZone)
  await postgres.migrate(async (tx) => {
    if (isSameTimeZone(await readTimeZone(tx, 'FOR UPDATE'), timeZone)) return
    await tx.query("UPDATE settings SET value = ? WHERE name = 'time_zone'", [timeZone])
    await recountTotals(tx, calendar)
  })
}
