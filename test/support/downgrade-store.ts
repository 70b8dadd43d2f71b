import Database from 'better-sqlite3'

const DROP_STATUS_COLUMNS = ['cancelled_from', 'paid_at', 'retirement'].map(
  (name) => `ALTER TABLE orders DROP COLUMN ${name}`,
)

/** Undoes the migration of SQLite to version 18. */
const WITHOUT_STATUS_COLUMNS = [
  'DROP INDEX orders_by_exception',
  'ALTER TABLE orders DROP COLUMN exception',
  ...DROP_STATUS_COLUMNS,
  `ALTER TABLE orders ADD COLUMN exception INTEGER AS (
    CASE WHEN order_source_id IS NULL AND attempt ->> 'state' = 'placed' THEN 2 END
  ) VIRTUAL`,
  'CREATE INDEX orders_by_exception ON orders (exception, placed_at) WHERE exception IS NOT NULL',
]

/** The schema version of PostgreSQL before orders remembered their statuses. */
export const POSTGRES_WITHOUT_STATUS_COLUMNS = 15

/** Undoes the migration of PostgreSQL from that version. */
export const POSTGRES_DOWNGRADE = [
  'ALTER TABLE orders DROP COLUMN exception',
  ...DROP_STATUS_COLUMNS,
  `ALTER TABLE orders ADD COLUMN exception SMALLINT GENERATED ALWAYS AS (
    CASE WHEN order_source_id IS NULL AND attempt ->> 'state' = 'placed' THEN 2 END
  ) STORED`,
  `UPDATE schema_version SET version = ${POSTGRES_WITHOUT_STATUS_COLUMNS}`,
]

/** Undoes the migrations to each schema version, newest first. */
const DOWNGRADES: readonly [version: number, sql: string][] = [
  [19, `UPDATE api_keys SET scopes = replace(scopes, ',"orders:settle"', '')`],
  [18, WITHOUT_STATUS_COLUMNS.join(';')],
  [17, "INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 0)"],
  [16, 'DROP TABLE recovery_codes; DROP TABLE passkeys; DROP TABLE authenticator_apps'],
  [15, 'DROP TABLE audit_chain; DROP TABLE audit_log'],
  [14, 'DROP TABLE sessions'],
  [13, 'DROP TABLE account_links; DROP TABLE accounts'],
  [12, 'DROP TABLE payments; DROP INDEX orders_by_origin'],
  [11, 'DROP TABLE certificates'],
  [10, 'DROP TABLE conversion_counts; DROP TABLE conversion_orders'],
  [
    9,
    `ALTER TABLE orders DROP COLUMN origin; ALTER TABLE orders DROP COLUMN checkout;
     DROP TABLE order_links`,
  ],
  [8, 'DROP TABLE webhook_endpoints'],
  [7, 'DROP TABLE order_views'],
  [6, 'DROP TABLE api_keys'],
  [5, 'DROP TABLE order_events; DROP TABLE outbox; DROP TABLE outbox_attempts'],
  [
    4,
    `DROP INDEX orders_by_exception;
     ALTER TABLE orders DROP COLUMN exception; ALTER TABLE orders DROP COLUMN attempt`,
  ],
  [3, 'ALTER TABLE orders DROP COLUMN calculation'],
  [2, 'DROP INDEX orders_by_source_id; DROP INDEX changes_placed'],
]

/** Converts an order database to the schema of an earlier version of Clearwake. */
export function downgradeStore(path: string, version: number): void {
  const db = new Database(path)
  for (const [from, sql] of DOWNGRADES) if (from > version) db.exec(sql)
  db.pragma(`user_version = ${version}`)
  db.close()
}
