/*
 * What orders remember of their statuses, and evidence of retirement. Part of a migration: never
 * edit a released one. The status codes are STATUS_CODES; 1 to 4 are paid.
 */

type Engine = 'sqlite' | 'postgres'

/** The changes to the status of orders, as a subquery: order_id, version, at, from, to. */
const STATUS_CHANGES: Record<Engine, string> = {
  sqlite: `SELECT order_id, version, at, change.value ->> 'from' AS old, change.value ->> 'to' AS new
    FROM changes CROSS JOIN json_each(changes.changes) AS change
    WHERE instr(changes.changes, '"field":"status"') > 0 AND change.value ->> 'field' = 'status'`,
  postgres: `SELECT order_id, version, at, change ->> 'from' AS old, change ->> 'to' AS new
    FROM changes CROSS JOIN jsonb_array_elements(changes.changes::jsonb) AS change
    WHERE position('"field":"status"' IN changes.changes) > 0 AND change ->> 'field' = 'status'`,
}

/** The latest of these changes of each order, as a subquery. */
const selectLatest = (engine: Engine, condition: string): string =>
  `SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY version DESC) AS place
    FROM (${STATUS_CHANGES[engine]}) AS status_changes WHERE ${condition}
  ) AS ranked WHERE place = 1`

const WAS_PAID = `(status IN (1, 2, 3, 4) OR (status = 5 AND (
  cancelled_from IN (1, 2, 3, 4) OR (cancelled_from IS NULL AND fulfilled_at IS NOT NULL)
)))`

/** Adds the columns, and fills them in as `inferStatusFields` does. */
const createStatusColumns = (engine: Engine): string[] => {
  const [code, time] = engine === 'sqlite' ? ['INTEGER', 'INTEGER'] : ['SMALLINT', 'BIGINT']
  const least = engine === 'sqlite' ? 'min' : 'least'
  return [
    `ALTER TABLE orders ADD COLUMN cancelled_from ${code}`, // STATUS_CODES; NULL if unknown
    `ALTER TABLE orders ADD COLUMN paid_at ${time}`, // ms since 1970; NULL if never paid
    'ALTER TABLE orders ADD COLUMN retirement TEXT', // JSON; NULL if there is none
    `UPDATE orders SET cancelled_from = CASE old WHEN 'pending' THEN 0 WHEN 'paid' THEN 1
        WHEN 'processing' THEN 2 WHEN 'fulfilled' THEN 3 WHEN 'refunded' THEN 4 END
      FROM (${selectLatest(engine, "new = 'cancelled'")}) AS cancellation
      WHERE orders.id = cancellation.order_id AND status = 5`,
    `UPDATE orders SET paid_at = payment.at
      FROM (${selectLatest(engine, "old = 'pending' AND new IN ('paid', 'processing', 'fulfilled', 'refunded')")}) AS payment
      WHERE orders.id = payment.order_id AND ${WAS_PAID}`,
    `UPDATE orders SET paid_at = ${least}(created_at, coalesce(fulfilled_at, created_at))
      WHERE paid_at IS NULL AND ${WAS_PAID}`,
  ]
}

const NOT_REFUNDED = 'status = 5 AND paid_at IS NOT NULL AND coalesce(cancelled_from, 0) <> 4'

/** Whether Clearwake placed the order under its current ID, as `hasEvidence` checks. */
const IS_PLACED =
  "coalesce(attempt ->> 'state' = 'placed' AND attempt ->> 'orderSourceId' = order_source_id, FALSE)"

/** Replaces the computed column with the reasons why an order needs attention. */
const EXCEPTION_COLUMN: Record<Engine, readonly string[]> = {
  sqlite: [
    'DROP INDEX orders_by_exception',
    'ALTER TABLE orders DROP COLUMN exception',
    `ALTER TABLE orders ADD COLUMN exception INTEGER AS (
      CASE                              -- EXCEPTION_CODES
        WHEN order_source_id IS NULL AND attempt ->> 'state' IN ('sent', 'unanswered', 'placed') THEN 2
        WHEN ${NOT_REFUNDED} THEN 4
        WHEN order_source_id IS NULL AND status IN (1, 2) AND co2e_kg > 0 THEN 1
        WHEN order_source_id IS NOT NULL AND attempt ->> 'state' = 'placed' AND (
          attempt ->> 'differs' = 1 OR order_source_id <> attempt ->> 'orderSourceId'
          OR abs(attempt ->> 'tons' - co2e_kg / 1000) > 1e-6
        ) THEN 3
        WHEN status = 3 AND checkout IS NOT NULL AND retirement IS NULL
          AND NOT ${IS_PLACED} THEN 5
      END
    ) VIRTUAL`,
  ],
  postgres: [
    'ALTER TABLE orders DROP COLUMN exception',
    `ALTER TABLE orders ADD COLUMN exception SMALLINT GENERATED ALWAYS AS (
      CASE                              -- EXCEPTION_CODES
        WHEN order_source_id IS NULL
          AND attempt ->> 'state' IN ('sent', 'unanswered', 'placed') THEN 2
        WHEN ${NOT_REFUNDED} THEN 4
        WHEN order_source_id IS NULL AND status IN (1, 2) AND co2e_kg > 0 THEN 1
        WHEN order_source_id IS NOT NULL AND attempt ->> 'state' = 'placed' AND (
          attempt ->> 'differs' = '1' OR order_source_id <> attempt ->> 'orderSourceId'
          OR abs((attempt -> 'tons')::float8 * 1000 - co2e_kg) > 1e-3
        ) THEN 3
        WHEN status = 3 AND checkout IS NOT NULL AND retirement IS NULL
          AND NOT ${IS_PLACED} THEN 5
      END
    ) STORED`,
  ],
}

export const createStatusMigration = (engine: Engine): string[] => [
  ...createStatusColumns(engine),
  ...EXCEPTION_COLUMN[engine],
  'CREATE INDEX orders_by_exception ON orders (exception, placed_at) WHERE exception IS NOT NULL',
]
