import type { Database } from 'better-sqlite3'
import type { DayCalendar } from '../../../core/formatting/day-calendar.js'
import { buildUpsert, TotalsSum, type CountedRow } from '../totals.js'

/** Adds to the totals, in the caller's transaction. */
export function addTotals(db: Database, sum: TotalsSum): void {
  for (const row of sum.getRows()) {
    const { sql, values } = buildUpsert([row])
    db.prepare(sql).run(values)
  }
}

/** Recomputes all totals from the orders, for the days of another time zone. */
export function rebuildAggregates(db: Database, calendar: DayCalendar): void {
  const sum = new TotalsSum(calendar)
  const rows = db.prepare<[], CountedRow>(
    'SELECT status, currency, co2e_kg, amount_minor, placed_at FROM orders',
  )
  for (const row of rows.iterate()) sum.add(row)
  db.exec('DELETE FROM order_totals')
  addTotals(db, sum)
}
