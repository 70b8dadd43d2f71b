import type { Queryable, SqlValue } from '../../../database/database.js'
import { startOfPeriod, type Day, type DayCalendar } from '../../../core/formatting/day-calendar.js'
import type { DayRange } from '../../order-statistics.js'
import { isCounted, ORDER_STATUSES } from '../../order-status.js'
import { FIRST_DAY, LAST_DAY, splitRange } from '../sql/aggregate-ranges.js'
import {
  MG_PER_KG,
  PERIOD_CODES,
  PERIODS,
  toMilligrams,
  type AggregatedRow,
  type AggregatePeriod,
  type GroupCount,
} from '../sql/daily-aggregate.js'
import { toStatusCode } from '../sql/order-row.js'
import type { SqlFragment } from '../sql/query-conditions.js'
import type { TotalsRow } from '../sql/totals.js'

/** Maximum number of changes added to the totals in one transaction. */
const BATCH_SIZE = 5_000

const ADD_CHANGE = `
  INSERT INTO order_total_changes (day, status, calculator_type, currency, orders, co2e_mg, amount_minor)
  VALUES`

/**
 * Records orders that are added (1) and removed (-1), in the caller's transaction. A changed order
 * is removed with its old values and added with its new values.
 */
export async function changeTotals(
  tx: Queryable,
  calendar: DayCalendar,
  changes: readonly { row: AggregatedRow; sign: 1 | -1 }[],
): Promise<void> {
  const values = changes.flatMap(({ row, sign }): SqlValue[] => [
    calendar.dayOf(row.placed_at),
    row.status,
    row.calculator_type,
    row.currency,
    sign,
    sign * toMilligrams(row.co2e_kg),
    sign * row.amount_minor,
  ])
  await tx.query(`${ADD_CHANGE} ${changes.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`, values)
}

interface ChangeRow extends GroupCount {
  day: Day
  /** Integers as text, because they may exceed 2^53 */
  co2e_mg: string
  amount_minor: string
}

const TAKE_CHANGES = `
  WITH taken AS (
    DELETE FROM order_total_changes WHERE id IN (
      SELECT id FROM order_total_changes ORDER BY id LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED
    ) RETURNING *
  )
  SELECT day, status, calculator_type, currency, sum(orders) AS orders, sum(co2e_mg)::text AS co2e_mg,
    sum(amount_minor)::text AS amount_minor
  FROM taken GROUP BY day, status, calculator_type, currency`

const ADDED = `unnest(?::int[], ?::int[], ?::int[], ?::int[], ?::text[], ?::bigint[], ?::numeric[], ?::numeric[])
    AS added (step, start, status, calculator_type, currency, orders, co2e_mg, amount_minor)`

// Sorted by key, so that concurrent processes do not deadlock.
const ADD_COUNTS = `
  INSERT INTO order_counts
  SELECT step, start, status, calculator_type, currency, sum(orders) FROM ${ADDED}
  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (step, start, status, calculator_type, currency) DO UPDATE SET
    orders = order_counts.orders + excluded.orders`
const ADD_TOTALS = `
  INSERT INTO order_totals
  SELECT step, start, status, currency, sum(orders), sum(co2e_mg), sum(amount_minor) FROM ${ADDED}
  GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (step, start, status, currency) DO UPDATE SET
    orders = order_totals.orders + excluded.orders,
    co2e_mg = order_totals.co2e_mg + excluded.co2e_mg,
    amount_minor = order_totals.amount_minor + excluded.amount_minor`

const startOf = (period: AggregatePeriod, day: Day): Day =>
  period === 'all' ? 0 : startOfPeriod(period, day)

/**
 * Adds a batch of recorded changes to the totals, in the caller's transaction; returns 0 if there
 * are no changes.
 */
export async function foldTotalChanges(tx: Queryable): Promise<number> {
  const rows = await tx.query<ChangeRow>(TAKE_CHANGES)
  if (rows.length === 0) return 0
  const added = PERIODS.flatMap((period) =>
    rows.map((row) => ({ ...row, step: PERIOD_CODES[period], start: startOf(period, row.day) })),
  )
  const values = [
    added.map(({ step }) => step),
    added.map(({ start }) => start),
    added.map(({ status }) => status),
    added.map(({ calculator_type }) => calculator_type),
    added.map(({ currency }) => currency),
    added.map(({ orders }) => orders),
    added.map(({ co2e_mg }) => co2e_mg),
    added.map(({ amount_minor }) => amount_minor),
  ]
  await tx.query(ADD_COUNTS, values)
  await tx.query(ADD_TOTALS, values)
  return rows.length
}

const COLUMNS = {
  order_counts: 'status, calculator_type, currency, orders',
  order_totals: 'status, currency, orders, co2e_mg, amount_minor',
} as const

/**
 * A subquery for a FROM clause. It selects the counts or totals of a range of days, and the changes
 * that have not been added yet.
 */
function selectRange(table: keyof typeof COLUMNS, range: DayRange): SqlFragment {
  const parts = splitRange(range)
  const [from, to] = [range.from ?? FIRST_DAY, range.to ?? LAST_DAY]
  const conditions = parts.map(() => '(step = ? AND start BETWEEN ? AND ?)').join(' OR ')
  return {
    sql: `(
      SELECT ${COLUMNS[table]} FROM ${table} WHERE ${conditions}
      UNION ALL
      SELECT ${COLUMNS[table]} FROM order_total_changes WHERE day BETWEEN ? AND ?
    ) AS parts`,
    values: [
      ...parts.flatMap(({ period, first, last }) => [PERIOD_CODES[period], first, last]),
      from,
      to,
    ],
  }
}

const SUMS = `sum(orders)::bigint AS orders, div(sum(co2e_mg), ${MG_PER_KG})::bigint AS co2e_kg,
  mod(sum(co2e_mg), ${MG_PER_KG})::bigint AS co2e_mg, sum(amount_minor)::bigint AS amount_minor`

/** Reads the number of orders in each group; omits empty groups. */
export function readGroups(tx: Queryable, range: DayRange): Promise<GroupCount[]> {
  const { sql, values } = selectRange('order_counts', range)
  return tx.query<GroupCount>(
    `SELECT status, calculator_type, currency, sum(orders)::bigint AS orders FROM ${sql}
     GROUP BY status, calculator_type, currency HAVING sum(orders) > 0`,
    values,
  )
}

/** Reads the totals of a range of days by status and currency. */
export function readTotals(tx: Queryable, range: DayRange): Promise<TotalsRow[]> {
  const { sql, values } = selectRange('order_totals', range)
  return tx.query<TotalsRow>(
    `SELECT 0 AS start, status, currency, ${SUMS} FROM ${sql} GROUP BY status, currency`,
    values,
  )
}

const UNCOUNTED = ORDER_STATUSES.filter((status) => !isCounted(status)).map(toStatusCode)

/**
 * Reads the totals of the periods that start between `first` and `last`; omits periods without
 * orders. Groups statuses only by whether they are counted, because fewer rows are faster to read.
 */
export async function readTimeline(
  tx: Queryable,
  period: Exclude<AggregatePeriod, 'all'>,
  first: Day,
  last: Day,
): Promise<TotalsRow[]> {
  // Recorded changes have only a day, so the start of the period is computed here.
  const days = await tx.query<{ day: Day }>(
    'SELECT DISTINCT day FROM order_total_changes WHERE day >= ?',
    [first],
  )
  const starts = days.map(({ day }) => startOfPeriod(period, day))
  return tx.query<TotalsRow>(
    `SELECT start, min(status) AS status, currency, ${SUMS} FROM (
       SELECT start, ${COLUMNS.order_totals} FROM order_totals WHERE step = ? AND start BETWEEN ? AND ?
       UNION ALL
       SELECT starts.start, ${COLUMNS.order_totals} FROM order_total_changes
         JOIN unnest(?::int[], ?::int[]) AS starts (day, start) USING (day)
         WHERE starts.start BETWEEN ? AND ?
     ) AS parts
     GROUP BY start, currency, status IN (${UNCOUNTED.join(', ')}) HAVING sum(orders) > 0 ORDER BY start`,
    [PERIOD_CODES[period], first, last, days.map(({ day }) => day), starts, first, last],
  )
}
