/**
 * Creates the index for a sort field of orders. The index also contains the columns of the
 * filters, so that an order that does not match is skipped without reading its row.
 */
const createSortIndex = (name: string, column: string): string =>
  `CREATE INDEX orders_by_${name} ON orders (${column}, id, status, calculator_type, currency, placed_at);`

/** The first tables of orders. Part of a migration, as all below: never edit a released one. */
export const ORDER_TABLES = [
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
${createSortIndex('placed_at', 'placed_at')}
${createSortIndex('order_number', 'order_number_key')}
${createSortIndex('customer_name', 'customer_name_key')}
${createSortIndex('vessel_name', 'vessel_name_key')}
${createSortIndex('co2e_kg', 'co2e_kg')}
${createSortIndex('amount_minor', 'amount_minor')}
${createSortIndex('status', 'status')}
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

/** Orders at the provider. */
export const PLACEMENT_INDEXES = [
  `
CREATE INDEX orders_by_source_id ON orders (order_source_id) WHERE order_source_id IS NOT NULL;
-- Changes that record an order placed at the provider.
CREATE INDEX changes_placed ON changes (order_id, version)
  WHERE instr(changes, '"state":"placed"') > 0;
`,
]

/** The latest attempt to place an order, and why the order needs attention. */
export const ATTEMPT_COLUMNS = [
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
export const AMOUNT_INDEX = [
  `
DROP INDEX orders_by_amount_minor;
CREATE INDEX orders_by_amount_minor
  ON orders (currency, amount_minor, id, status, calculator_type, placed_at);
`,
]
