/* Later changes to the tables of orders. Part of migrations: never edit a released one. */

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

/**
 * What orders remember of their statuses, and evidence of retirement. The status codes are
 * STATUS_CODES; 1 to 4 are paid.
 */
export const createStatusMigration = (engine: Engine): string[] => [
  ...createStatusColumns(engine),
  ...EXCEPTION_COLUMN[engine],
  'CREATE INDEX orders_by_exception ON orders (exception, placed_at) WHERE exception IS NOT NULL',
]

const createTotalsTable = (engine: Engine): string => {
  const [code, text] = engine === 'sqlite' ? ['INTEGER', 'TEXT'] : ['SMALLINT', 'TEXT COLLATE "C"']
  return `CREATE TABLE order_totals (
    day INTEGER NOT NULL,              -- of placed_at in the time zone of the settings, days since 1970
    status ${code} NOT NULL,           -- STATUS_CODES
    currency ${text} NOT NULL,
    orders BIGINT NOT NULL,
    co2e_kg BIGINT NOT NULL,           -- whole kilograms
    co2e_mg BIGINT NOT NULL,           -- and remaining milligrams: totals are exact
    amount_minor BIGINT NOT NULL,
    PRIMARY KEY (day, status, currency)
  ) ${engine === 'sqlite' ? 'WITHOUT ROWID' : ''}`
}

/** Fills the table from the totals by day, week and month that it replaces; step 0 is the day. */
const FILL_TOTALS: Record<Engine, readonly string[]> = {
  sqlite: [
    createTotalsTable('sqlite'),
    `INSERT INTO order_totals
      SELECT start, status, currency, orders, co2e_kg, co2e_mg, amount_minor FROM sums
      WHERE step = 0 AND orders > 0`,
    'DROP TABLE sums',
    'DROP TABLE counts',
  ],
  postgres: [
    'ALTER TABLE order_totals RENAME TO period_totals',
    'ALTER INDEX order_totals_pkey RENAME TO period_totals_pkey',
    createTotalsTable('postgres'),
    `INSERT INTO order_totals
      SELECT day, status, currency, sum(orders), sum(div(co2e_mg, 1000000)),
        sum(mod(co2e_mg, 1000000)), sum(amount_minor)
      FROM (
        SELECT start AS day, status, currency, orders, co2e_mg, amount_minor
        FROM period_totals WHERE step = 0
        UNION ALL
        SELECT day, status, currency, orders, co2e_mg, amount_minor FROM order_total_changes
      ) AS parts GROUP BY day, status, currency HAVING sum(orders) > 0`,
    'DROP TABLE period_totals',
    'DROP TABLE order_counts',
    'DROP TABLE order_total_changes',
  ],
}

const FILTERS = 'status, calculator_type, currency, placed_at, origin, exception'

/** So that orders that do not match a filter are skipped without reading their rows. */
function createSortIndex(engine: Engine, name: string, columns: string): string[] {
  const key = engine === 'sqlite' ? `(${columns}, id, ${FILTERS})` : `(${columns}, id)`
  const include = engine === 'sqlite' ? '' : ` INCLUDE (${FILTERS})`
  return [
    `DROP INDEX orders_by_${name}`,
    `CREATE INDEX orders_by_${name} ON orders ${key}${include}`,
  ]
}

/** Totals of orders by day, and sort indexes with all filters. */
export const createTotalsMigration = (engine: Engine): string[] => [
  ...FILL_TOTALS[engine],
  'DROP INDEX orders_by_kind',
  'DROP INDEX orders_by_origin',
  ...createSortIndex(engine, 'placed_at', 'placed_at'),
  ...createSortIndex(engine, 'order_number', 'order_number_key'),
  ...createSortIndex(engine, 'customer_name', 'customer_name_key'),
  ...createSortIndex(engine, 'vessel_name', 'vessel_name_key'),
  ...createSortIndex(engine, 'co2e_kg', 'co2e_kg'),
  ...createSortIndex(engine, 'amount_minor', 'currency, amount_minor'),
  ...createSortIndex(engine, 'status', 'status'),
  // The median time to fulfilment is read from this index alone; PostgreSQL has it already.
  ...(engine === 'sqlite'
    ? [
        `CREATE INDEX orders_by_fulfilment ON orders (placed_at, fulfilled_at)
          WHERE status = 3 AND fulfilled_at IS NOT NULL`,
      ]
    : []),
]
