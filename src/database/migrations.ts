import type { Database } from 'better-sqlite3'

/** Tells an order book from other SQLite files ("ClwK"). */
export const APPLICATION_ID = 0x436c774b

/**
 * Sorted lists come from one index for each field to sort by. They hold what lists are filtered
 * by too, so that passing over an order costs no look at its row.
 */
const sortedBy = (name: string, column: string): string =>
  `CREATE INDEX orders_by_${name} ON orders (${column}, id, status, calculator_type, currency, placed_at);`

/**
 * Steps from one layout of the file to the next; the file's user_version counts those taken.
 * A step that has been released is never edited.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    order_number TEXT NOT NULL UNIQUE,
    order_number_key TEXT NOT NULL,
    status INTEGER NOT NULL,           -- place in ORDER_STATUSES
    customer_name TEXT NOT NULL,
    customer_name_key TEXT NOT NULL,
    customer_email TEXT NOT NULL,
    vessel_name TEXT,
    vessel_name_key TEXT NOT NULL,
    imo_number TEXT,
    calculator_type INTEGER NOT NULL,  -- place in CALCULATOR_TYPES, -1 for none
    calculator_data TEXT,              -- JSON
    co2e_kg REAL NOT NULL,
    amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL,
    order_source_id TEXT,
    notes TEXT NOT NULL,
    placed_at INTEGER NOT NULL,        -- times are milliseconds since 1970
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    fulfilled_at INTEGER,
    cancelled_at INTEGER,
    version INTEGER NOT NULL
  ) STRICT;
  ${sortedBy('placed_at', 'placed_at')}
  ${sortedBy('order_number', 'order_number_key')}
  ${sortedBy('customer_name', 'customer_name_key')}
  ${sortedBy('vessel_name', 'vessel_name_key')}
  ${sortedBy('co2e_kg', 'co2e_kg')}
  ${sortedBy('amount_minor', 'amount_minor')}
  ${sortedBy('status', 'status')}
  CREATE INDEX orders_by_kind ON orders (status, calculator_type, currency, placed_at);

  -- What the search looks through, folded; the full-text index finds three letters and more in it.
  CREATE TABLE search_texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE search_index USING fts5 (
    text, content = 'search_texts', content_rowid = 'id', tokenize = 'trigram case_sensitive 1'
  );

  -- Sums of orders by the day, week and month they were placed in, in the time zone of the book,
  -- and of all of them. Statistics read these few rows instead of the orders.
  CREATE TABLE sums (
    step INTEGER NOT NULL,             -- place in STEPS
    start INTEGER NOT NULL,            -- first day of the step, days since 1970
    status INTEGER NOT NULL,
    currency TEXT NOT NULL,
    orders INTEGER NOT NULL,
    co2e_kg INTEGER NOT NULL,          -- whole kilograms and,
    co2e_mg INTEGER NOT NULL,          -- beside them, milligrams: no sum rounds or overflows
    amount_minor INTEGER NOT NULL,
    PRIMARY KEY (step, start, status, currency)
  ) STRICT, WITHOUT ROWID;

  -- How many orders there are of each kind, for the totals of filtered lists.
  CREATE TABLE counts (
    step INTEGER NOT NULL,
    start INTEGER NOT NULL,
    status INTEGER NOT NULL,
    calculator_type INTEGER NOT NULL,
    currency TEXT NOT NULL,
    orders INTEGER NOT NULL,
    PRIMARY KEY (step, start, status, calculator_type, currency)
  ) STRICT, WITHOUT ROWID;

  -- Every change but the first entry, which stands in created_at and created_by.
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
    request TEXT NOT NULL,             -- digest of what was asked for with it
    order_id INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);

  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO settings VALUES ('time_zone', 'UTC'), ('next_order_number', '1');
  `,
  `
  CREATE INDEX orders_by_source_id ON orders (order_source_id) WHERE order_source_id IS NOT NULL;
  -- Changes that tell that the order source has taken an order.
  CREATE INDEX changes_placed ON changes (order_id, version)
    WHERE instr(changes, '"state":"placed"') > 0;
  `,
]

/** The layout that this version of Clearwake writes. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The layout of a file: 0 for an empty one. */
export const getSchemaVersion = (db: Database): number =>
  db.pragma('user_version', { simple: true }) as number

/** Brings a file to a layout, that of today unless another is asked for, all or nothing. */
export function migrate(db: Database, wanted = SCHEMA_VERSION): void {
  // A book of today is opened without waiting for others that write to it.
  if (getSchemaVersion(db) === wanted) return
  db.transaction(() => {
    // Read within: of two processes that start at once, the second finds the work done.
    for (let layout = getSchemaVersion(db); layout < wanted; layout++)
      db.exec(MIGRATIONS[layout] ?? '')
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${wanted}`)
  }).immediate()
}
