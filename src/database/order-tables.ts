/**
 * Creates the index for a sort field of orders in SQLite. The index also contains the columns of the
 * filters, so that an order that does not match is skipped without reading its row.
 */
const createSqliteIndex = (name: string, column: string): string =>
  `CREATE INDEX orders_by_${name} ON orders (${column}, id, status, calculator_type, currency, placed_at);`

/** The same in PostgreSQL. */
const createPostgresIndex = (name: string, column: string): string =>
  `CREATE INDEX orders_by_${name} ON orders (${column}, id) INCLUDE (status, calculator_type, currency, placed_at)`

/** The first tables of orders, in SQLite. Part of a migration: never edit a released one. */
export const SQLITE_ORDER_TABLES = [
  `
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  order_number TEXT NOT NULL UNIQUE,
  order_number_key TEXT NOT NULL,
  status INTEGER NOT NULL,           -- STATUS_CODES
  customer_name TEXT NOT NULL,
  customer_name_key TEXT NOT NULL,
  customer_email TEXT NOT NULL,
  vessel_name TEXT,
  vessel_name_key TEXT NOT NULL,
  imo_number TEXT,
  calculator_type INTEGER NOT NULL,  -- CALCULATOR_CODES
  calculator_data TEXT,              -- JSON
  co2e_kg REAL NOT NULL,
  amount_minor INTEGER NOT NULL,
  currency TEXT NOT NULL,
  order_source_id TEXT,
  notes TEXT NOT NULL,
  placed_at INTEGER NOT NULL,        -- timestamps are in ms since 1970
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  fulfilled_at INTEGER,
  cancelled_at INTEGER,
  version INTEGER NOT NULL
) STRICT;
${createSqliteIndex('placed_at', 'placed_at')}
${createSqliteIndex('order_number', 'order_number_key')}
${createSqliteIndex('customer_name', 'customer_name_key')}
${createSqliteIndex('vessel_name', 'vessel_name_key')}
${createSqliteIndex('co2e_kg', 'co2e_kg')}
${createSqliteIndex('amount_minor', 'amount_minor')}
${createSqliteIndex('status', 'status')}
CREATE INDEX orders_by_kind ON orders (status, calculator_type, currency, placed_at);

-- Normalised text for the search; the full-text index finds three or more characters.
CREATE TABLE search_texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE search_index USING fts5 (
  text, content = 'search_texts', content_rowid = 'id', tokenize = 'trigram case_sensitive 1'
);

-- Totals by day, week and month of placed_at in the time zone of the settings, and overall.
CREATE TABLE sums (
  step INTEGER NOT NULL,             -- PERIOD_CODES
  start INTEGER NOT NULL,            -- first day of the period, days since 1970
  status INTEGER NOT NULL,
  currency TEXT NOT NULL,
  orders INTEGER NOT NULL,
  co2e_kg INTEGER NOT NULL,          -- whole kilograms
  co2e_mg INTEGER NOT NULL,          -- and remaining milligrams: totals are exact
  amount_minor INTEGER NOT NULL,
  PRIMARY KEY (step, start, status, currency)
) STRICT, WITHOUT ROWID;

-- Number of orders by group, for the totals of filtered lists.
CREATE TABLE counts (
  step INTEGER NOT NULL,
  start INTEGER NOT NULL,
  status INTEGER NOT NULL,
  calculator_type INTEGER NOT NULL,
  currency TEXT NOT NULL,
  orders INTEGER NOT NULL,
  PRIMARY KEY (step, start, status, calculator_type, currency)
) STRICT, WITHOUT ROWID;

-- The history, except the creation: see created_at and created_by.
CREATE TABLE changes (
  order_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  changes TEXT NOT NULL,             -- JSON: [{ field, from, to }]
  PRIMARY KEY (order_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  key TEXT PRIMARY KEY,
  request TEXT NOT NULL,             -- hash of the order
  order_id INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);

CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO settings VALUES ('time_zone', 'UTC'), ('next_order_number', '1');
`,
]

/** SQLite: how orders were placed with the provider. */
export const SQLITE_PLACEMENT_INDEXES = [
  `
CREATE INDEX orders_by_source_id ON orders (order_source_id) WHERE order_source_id IS NOT NULL;
-- Changes that record an order placed at the provider.
CREATE INDEX changes_placed ON changes (order_id, version)
  WHERE instr(changes, '"state":"placed"') > 0;
`,
]

/** SQLite: the latest attempt of an order, and why the order needs attention. */
export const SQLITE_ATTEMPT_COLUMNS = [
  `
-- JSON: the latest attempt to place the order with the provider, { state, orderSourceId, tons, differs }.
ALTER TABLE orders ADD COLUMN attempt TEXT;
UPDATE orders SET attempt = latest.attempt FROM (
  SELECT order_id, max(version), json_object(
    'state', change.value ->> '$.to.state',
    'orderSourceId', change.value ->> '$.to.orderSourceId',
    'tons', change.value ->> '$.to.tons',
    'differs', change.value ->> '$.to.state' = 'placed' AND change.value ->> '$.from' IS NOT NULL
      AND (abs(change.value ->> '$.from.tons' - change.value ->> '$.to.tons') > 1e-6
        OR change.value ->> '$.from.amountMinor' <> change.value ->> '$.to.amountMinor'
        OR change.value ->> '$.from.currency' <> change.value ->> '$.to.currency')
  ) AS attempt
  FROM changes CROSS JOIN json_each(changes.changes) AS change
  WHERE instr(changes.changes, '"field":"placement"') > 0
    AND change.value ->> 'field' = 'placement'
  GROUP BY order_id
) AS latest WHERE orders.id = latest.order_id;

-- EXCEPTION_CODES: why the order needs attention.
ALTER TABLE orders ADD COLUMN exception INTEGER AS (
  CASE
    WHEN order_source_id IS NULL AND attempt ->> 'state' IN ('sent', 'unanswered', 'placed') THEN 2
    WHEN order_source_id IS NULL AND status IN (1, 2) AND co2e_kg > 0 THEN 1
    WHEN order_source_id IS NOT NULL AND attempt ->> 'state' = 'placed' AND (
      attempt ->> 'differs' = 1 OR order_source_id <> attempt ->> 'orderSourceId'
      OR abs(attempt ->> 'tons' - co2e_kg / 1000) > 1e-6
    ) THEN 3
  END
) VIRTUAL;
CREATE INDEX orders_by_exception ON orders (exception, placed_at) WHERE exception IS NOT NULL;
`,
]

/** The first tables of orders, in PostgreSQL, where they came later. */
export const POSTGRES_ORDER_TABLES = [
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
  createPostgresIndex('placed_at', 'placed_at'),
  createPostgresIndex('order_number', 'order_number_key'),
  createPostgresIndex('customer_name', 'customer_name_key'),
  createPostgresIndex('vessel_name', 'vessel_name_key'),
  createPostgresIndex('co2e_kg', 'co2e_kg'),
  createPostgresIndex('amount_minor', 'amount_minor'),
  createPostgresIndex('status', 'status'),
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

/** The state that processes share, in PostgreSQL. See KeyValueStore. */
export const STATE_TABLES = [
  // Timestamps are in ms since 1970, by the clock of the database.
  'CREATE TABLE state_keys (key TEXT PRIMARY KEY, expires_at BIGINT NOT NULL)',
  'CREATE INDEX state_keys_by_expiry ON state_keys (expires_at)',
  `CREATE TABLE state_counters (
    key TEXT PRIMARY KEY,
    consumed INTEGER NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  'CREATE INDEX state_counters_by_expiry ON state_counters (expires_at)',
]

/** PostgreSQL: totals without the calculator type, and an index for the time to fulfilment. */
export const POSTGRES_TOTALS_MIGRATION = [
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

/** Amounts are sorted by currency first, in SQLite. */
export const SQLITE_AMOUNT_INDEX = [
  `
DROP INDEX orders_by_amount_minor;
CREATE INDEX orders_by_amount_minor
  ON orders (currency, amount_minor, id, status, calculator_type, placed_at);
`,
]

/** The same in PostgreSQL. */
export const POSTGRES_AMOUNT_INDEX = [
  'DROP INDEX orders_by_amount_minor',
  `CREATE INDEX orders_by_amount_minor ON orders (currency, amount_minor, id)
    INCLUDE (status, calculator_type, placed_at)`,
]
