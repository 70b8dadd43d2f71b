import type { Queryable } from '../../../database/database.js'
import type { Postgres } from '../../../database/postgres.js'
import { Problem } from '../../../core/http/problem.js'
import { createDayCalendar, isSameTimeZone } from '../../../core/formatting/day-calendar.js'
import type { AggregatedRow } from '../sql/daily-aggregate.js'
import { changeTotals, foldTotalChanges } from './totals.js'

const BATCH_SIZE = 1_000

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
    await tx.query('DELETE FROM order_counts')
    await tx.query('DELETE FROM order_totals')
    await tx.query('DELETE FROM order_total_changes')
    for (let lastId = 0; ;) {
      const rows = await tx.query<AggregatedRow & { id: number }>(
        `SELECT id, status, calculator_type, currency, co2e_kg, amount_minor, placed_at
         FROM orders WHERE id > ? ORDER BY id LIMIT ${BATCH_SIZE}`,
        [lastId],
      )
      const last = rows.at(-1)
      if (last === undefined) return
      lastId = last.id
      await changeTotals(
        tx,
        calendar,
        rows.map((row) => ({ row, sign: 1 as const })),
      )
      await foldTotalChanges(tx)
    }
  })
}
