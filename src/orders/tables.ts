import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/**
 * Creates the index for a sort field of orders. The index also contains the columns of the
 * filters, so that an order that does not match is skipped without reading its row.
 */
const createSqliteIndex = (name: string, column: string): string =>
  `CREATE INDEX orders_by_${name} ON orders (${column}, id, status, calculator_type, currency, placed_at);`

/** The first tables of orders in SQLite. */
const SQLITE_TABLES = [
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

-- Normalised text for the search; the full-text index finds groups of three characters.
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

/** Orders at the provider. */
const PLACEMENT_INDEXES = [
  `
CREATE INDEX orders_by_source_id ON orders (order_source_id) WHERE order_source_id IS NOT NULL;
-- Changes that record an order placed at the provider.
CREATE INDEX changes_placed ON changes (order_id, version)
  WHERE instr(changes, '"state":"placed"') > 0;
`,
]

/** The latest attempt to place an order, and why the order needs attention. */
const ATTEMPT_COLUMNS = [
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

/** Amounts are sorted by currency first. */
const SQLITE_AMOUNT_INDEX = [
  `
DROP INDEX orders_by_amount_minor;
CREATE INDEX orders_by_amount_minor
  ON orders (currency, amount_minor, id, status, calculator_type, placed_at);
`,
]

const createPostgresIndex = (name: string, column: string): string =>
  `CREATE INDEX orders_by_${name} ON orders (${column}, id) INCLUDE (status, calculator_type, currency, placed_at)`

/** The first tables of orders in PostgreSQL. */
const POSTGRES_TABLES = [
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

/** Totals without the calculator type, and an index for the time to fulfilment. */
const TOTALS_WITHOUT_TYPES = [
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
const POSTGRES_AMOUNT_INDEX = [
  'DROP INDEX orders_by_amount_minor',
  `CREATE INDEX orders_by_amount_minor ON orders (currency, amount_minor, id)
    INCLUDE (status, calculator_type, placed_at)`,
]

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
const createStatusMigration = (engine: Engine): string[] => [
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
const createTotalsMigration = (engine: Engine): string[] => [
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

/** Table of saved order lists. */
const VIEWS = [
  `CREATE TABLE order_views (
    name TEXT PRIMARY KEY,
    query TEXT NOT NULL,            -- query string of the list
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL      -- ms since 1970
  )`,
]

/** How far each projection has come. */
const PROJECTIONS = [
  `CREATE TABLE projections (
    name TEXT PRIMARY KEY,
    position BIGINT NOT NULL        -- the orders up to this ID are projected; then their events are
  )`,
]

export default {
  1: { sqlite: SQLITE_TABLES, postgres: POSTGRES_TABLES },
  2: { sqlite: PLACEMENT_INDEXES },
  // JSON; NULL if the edition was not recorded
  4: { sqlite: ['ALTER TABLE orders ADD COLUMN calculation TEXT'] },
  5: { sqlite: ATTEMPT_COLUMNS },
  8: { both: VIEWS },
  14: { postgres: TOTALS_WITHOUT_TYPES },
  // So that erased personal data does not stay in the index.
  19: { sqlite: ["INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1)"] },
  20: { sqlite: createStatusMigration('sqlite'), postgres: createStatusMigration('postgres') },
  22: { sqlite: SQLITE_AMOUNT_INDEX, postgres: POSTGRES_AMOUNT_INDEX },
  23: { sqlite: createTotalsMigration('sqlite'), postgres: createTotalsMigration('postgres') },
  25: { both: PROJECTIONS },
  // The trigrams of the search index, which also find parts of two characters.
  26: { sqlite: ['CREATE VIRTUAL TABLE search_terms USING fts5vocab (search_index, row)'] },
} satisfies Migrations
