import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { createDayCalendar } from '../../src/core/formatting/day-calendar.js'
import { TotalsSum, type CountedRow, type TotalsRow } from '../../src/orders/store/totals.js'

/** A condition on an entry of the history: one of its changes matches. */
const hasChange = (condition: string): string =>
  `EXISTS (SELECT 1 FROM json_each(changes.changes) WHERE ${condition})`

const REOPENED = hasChange("value ->> 'field' = 'status' AND value ->> 'from' = 'cancelled'")
const CLEARED = hasChange(
  "value ->> 'field' = 'cancelledAt' AND value ->> 'from' IS NOT NULL AND value ->> 'to' IS NULL",
)

const TOTALS = 'SELECT * FROM order_totals WHERE orders <> 0 ORDER BY day, status, currency'

/** Asserts that an order database is intact, with correct search index, history and totals. */
export function checkStore(path: string): void {
  const db = new Database(path)
  assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
  db.exec("INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)")
  const pluck = (sql: string) => db.prepare(sql).pluck().get()
  const orders = pluck('SELECT count(*) FROM orders')
  assert.equal(pluck('SELECT count(*) FROM search_texts JOIN orders USING (id)'), orders)
  assert.equal(
    pluck("SELECT coalesce(sum(version - 1), 0) FROM orders WHERE created_by <> 'import'"),
    pluck('SELECT count(*) FROM changes'),
    'the history has an entry for each version after the first',
  )
  assert.equal(
    pluck(`SELECT count(*) FROM changes WHERE ${REOPENED} <> ${CLEARED}`),
    0,
    'the history keeps the cancellation time of a reopened order',
  )
  const timeZone = pluck("SELECT value FROM settings WHERE name = 'time_zone'") as string
  const sum = new TotalsSum(createDayCalendar(timeZone))
  for (const row of db.prepare<[], CountedRow>('SELECT * FROM orders').iterate()) sum.add(row)
  assert.deepEqual(db.prepare<[], TotalsRow>(TOTALS).all(), sum.getRows())
  db.close()
}
