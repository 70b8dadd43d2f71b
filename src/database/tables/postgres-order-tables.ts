/**
 * Creates the index for a sort field of orders. The index also contains the columns of the
 * filters, so that an order that does not match is skipped without reading its row.
 */
const createSortIndex = (name: string, column: string): string =>
  `CREATE INDEX orders_by_${name} ON orders (${column}, id) INCLUDE (status, calculator_type, currency, placed_at)`

/** The first tables of orders. Part of a migration, as all below: never edit a released one. */
export const ORDER_TABLES = [
  // The same columns as in SQLite, so that orders can be copied unchanged.
  `CREATE TABLE orders (
    id BIGINT PRIMARY KEY,
    order_number TEXT NOT NULL UNIQUE,
    order_number_key TEXT COLLATE "C" NOT NULL,
    status SMALLINT NOT NULL,           -- STATUS_CODES
    customer_name TEXT NOT NULL,
    customer_name_key TEXT COLLATE "C" NOT NULL,
    customer_email TEXT NOT NULL,
    vessel_name TEXT,
    vessel_name_key TEXT COLLATE "C" NOT NULL,
    imo_number TEXT,
    calculator_type SMALLINT NOT NULL,  -- CALCULATOR_CODES
    calculator_data TEXT,               -- JSON, as it was written
    co2e_kg DOUBLE PRECISION NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    order_source_id TEXT,
    notes TEXT NOT NULL,
    placed_at BIGINT NOT NULL,          -- timestamps are in ms since 1970
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    fulfilled_at BIGINT,
    cancelled_at BIGINT,
    version BIGINT NOT NULL,
    calculation TEXT,                   -- JSON; NULL if the edition was not recorded
    attempt JSONB,                      -- AttemptSummary: the latest attempt to place the order
    exception SMALLINT GENERATED ALWAYS AS (
      CASE                              -- EXCEPTION_CODES
        WHEN order_source_id IS NULL
          AND attempt ->> 'state' IN ('sent', 'unanswered', 'placed') THEN 2
        WHEN order_source_id IS NULL AND status IN (1, 2) AND co2e_kg > 0 THEN 1
        WHEN order_source_id IS NOT NULL AND attempt ->> 'state' = 'placed' AND (
          attempt ->> 'differs' = '1' OR order_source_id <> attempt ->> 'orderSourceId'
          OR abs((attempt -> 'tons')::float8 * 1000 - co2e_kg) > 1e-3
        ) THEN 3
      END
    ) STORED
  )`,
  createSortIndex('placed_at', 'placed_at'),
  createSortIndex('order_number', 'order_number_key'),
  createSortIndex('customer_name', 'customer_name_key'),
  createSortIndex('vessel_name', 'vessel_name_key'),
  createSortIndex('co2e_kg', 'co2e_kg'),
  createSortIndex('amount_minor', 'amount_minor'),
  createSortIndex('status', 'status'),
  'CREATE INDEX orders_by_kind ON orders (status, calculator_type, currency, placed_at)',
  'CREATE INDEX orders_by_source_id ON orders (order_source_id) WHERE order_source_id IS NOT NULL',
  'CREATE INDEX orders_by_exception ON orders (exception, placed_at) WHERE exception IS NOT NULL',

  // Normalised text, and its n-grams of up to three characters. Independent of the locale.
  `CREATE TABLE order_search (
    order_id BIGINT PRIMARY KEY REFERENCES orders (id),
    text TEXT COLLATE "C" NOT NULL,
    grams TEXT[] COLLATE "C" NOT NULL
  )`,
  'CREATE INDEX order_search_by_gram ON order_search USING gin (grams) WITH (fastupdate = off)',

  // Totals by day, week and month of placed_at in the time zone of the settings, and overall.
  `CREATE TABLE order_totals (
    step SMALLINT NOT NULL,             -- PERIOD_CODES
    start INTEGER NOT NULL,             -- first day of the period, days since 1970
    status SMALLINT NOT NULL,
    calculator_type SMALLINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    orders BIGINT NOT NULL,
    co2e_mg NUMERIC NOT NULL,           -- milligrams: totals are exact
    amount_minor NUMERIC NOT NULL,
    PRIMARY KEY (step, start, status, calculator_type, currency)
  )`,
  // Changes that have not yet been added to the totals. Writers only append here, so they never
  // wait for a lock on a total.
  `CREATE TABLE order_total_changes (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day INTEGER NOT NULL,
    status SMALLINT NOT NULL,
    calculator_type SMALLINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    orders SMALLINT NOT NULL,           -- 1 or -1
    co2e_mg BIGINT NOT NULL,
    amount_minor BIGINT NOT NULL
  )`,

  // The history, excluding the creation of the order: see created_at and created_by.
  `CREATE TABLE changes (
    order_id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    at BIGINT NOT NULL,
    by TEXT NOT NULL,
    changes TEXT NOT NULL,              -- JSON: [{ field, from, to }]
    PRIMARY KEY (order_id, version)
  )`,
  `CREATE INDEX changes_placed ON changes (order_id, version)
    WHERE position('"state":"placed"' IN changes) > 0`,

  `CREATE TABLE idempotency_keys (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,              -- hash of the order
    order_id BIGINT NOT NULL,
    at BIGINT NOT NULL
  )`,
  'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at)',

  'CREATE SEQUENCE order_ids',
  'CREATE SEQUENCE order_numbers',
  'CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)',
  "INSERT INTO settings VALUES ('time_zone', 'UTC')",
]

/** Totals without the calculator type, and an index for the time to fulfilment. */
export const TOTALS_WITHOUT_TYPES = [
  // The median time to fulfilment is read from the index alone.
  `CREATE INDEX orders_by_fulfilment ON orders (placed_at, fulfilled_at)
    WHERE status = 3 AND fulfilled_at IS NOT NULL`,

  // Only the counts are needed by calculator type. Without the calculator type, the totals have a
  // third of the rows.
  'ALTER TABLE order_totals RENAME TO order_counts',
  'ALTER INDEX order_totals_pkey RENAME TO order_counts_pkey',
  `CREATE TABLE order_totals (
    step SMALLINT NOT NULL,             -- PERIOD_CODES
    start INTEGER NOT NULL,             -- first day of the period, days since 1970
    status SMALLINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    orders BIGINT NOT NULL,
    co2e_mg NUMERIC NOT NULL,           -- milligrams: totals are exact
    amount_minor NUMERIC NOT NULL,
    PRIMARY KEY (step, start, status, currency)
  )`,
  `INSERT INTO order_totals
    SELECT step, start, status, currency, sum(orders), sum(co2e_mg), sum(amount_minor)
    FROM order_counts GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
  'ALTER TABLE order_counts DROP COLUMN co2e_mg, DROP COLUMN amount_minor',
]

/** Amounts are sorted by currency first. */
export const AMOUNT_INDEX = [
  'DROP INDEX orders_by_amount_minor',
  `CREATE INDEX orders_by_amount_minor ON orders (currency, amount_minor, id)
    INCLUDE (status, calculator_type, placed_at)`,
]
