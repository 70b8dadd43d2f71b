import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { createDayCalendar } from '../../src/orders/day-calendar.js'
import { rebuildAggregates } from '../../src/order-store/sqlite/aggregates.js'

/** Whether an entry of the history has a change of a field, as a condition on that change says. */
const hasChange = (condition: string): string =>
  `EXISTS (SELECT 1 FROM json_each(changes.changes) WHERE ${condition})`

const RESTORED = hasChange("value ->> 'field' = 'status' AND value ->> 'from' = 'cancelled'")
const ERASED = hasChange(
  "value ->> 'field' = 'cancelledAt' AND value ->> 'from' IS NOT NULL AND value ->> 'to' IS NULL",
)

const ROLL_UPS = {
  sums: 'SELECT * FROM sums WHERE orders <> 0 ORDER BY step, start, status, currency',
  counts:
    'SELECT * FROM counts WHERE orders <> 0 ORDER BY step, start, status, calculator_type, currency',
}

/** Throws where anything in a book does not fit the rest: pages, search index, history, sums. */
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
    'an entry of the history for each version but the first',
  )
  assert.equal(
    pluck(`SELECT count(*) FROM changes WHERE ${RESTORED} <> ${ERASED}`),
    0,
    'the history keeps when an order was cancelled that no longer is',
  )
  const timeZone = pluck("SELECT value FROM settings WHERE name = 'time_zone'") as string
  const kept = { sums: db.prepare(ROLL_UPS.sums).all(), counts: db.prepare(ROLL_UPS.counts).all() }
  db.exec('BEGIN')
  rebuildAggregates(db, createDayCalendar(timeZone))
  assert.deepEqual(kept.sums, db.prepare(ROLL_UPS.sums).all())
  assert.deepEqual(kept.counts, db.prepare(ROLL_UPS.counts).all())
  db.exec('ROLLBACK')
  db.close()
}
