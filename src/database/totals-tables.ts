/*
 * Totals of orders by day, and sort indexes with all filters. Part of a migration: never edit a
 * released one.
 */

type Engine = 'sqlite' | 'postgres'

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
