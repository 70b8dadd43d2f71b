import Database from 'better-sqlite3'
import { getMigrations, SCHEMA_VERSION } from '../../src/database/migrations.js'

/** Statements of migrations, and what undoes them. */
const INVERSES: readonly [statement: RegExp, inverse: string][] = [
  [/^CREATE (?:VIRTUAL )?TABLE (\w+)/, 'DROP TABLE $1'],
  [/^CREATE INDEX (\w+)/, 'DROP INDEX $1'],
  [/^INSERT INTO (\w+)/, 'DELETE FROM $1'],
  [/^ALTER TABLE (\w+) ADD COLUMN (\w+)/, 'ALTER TABLE $1 DROP COLUMN $2'],
]

function invert(statement: string): string {
  for (const [pattern, inverse] of INVERSES) {
    const match = pattern.exec(statement)
    if (match !== null) return match[0].replace(pattern, inverse)
  }
  throw new Error(`Write how to undo “${statement}”`)
}

/** Returns the statements that undo a migration. */
const undo = (migration: readonly string[]): string[] => migration.map(invert).reverse()

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

const SORT_KEYS = {
  placed_at: 'placed_at',
  order_number: 'order_number_key',
  customer_name: 'customer_name_key',
  vessel_name: 'vessel_name_key',
  co2e_kg: 'co2e_kg',
  amount_minor: 'currency, amount_minor',
  status: 'status',
}

/** Replaces the sort indexes, whose columns cannot be dropped otherwise. */
const WITHOUT_FILTERS = Object.entries(SORT_KEYS).flatMap(([name, key]) => [
  `DROP INDEX orders_by_${name}`,
  `CREATE INDEX orders_by_${name} ON orders (${key})`,
])

const CREATE_DROPPED_INDEXES = [
  'CREATE INDEX orders_by_kind ON orders (status)',
  'CREATE INDEX orders_by_origin ON orders (origin, placed_at) WHERE origin IS NOT NULL',
]

/** Undoes the migration of SQLite to version 21; the totals of weeks and months are not needed. */
const WITH_PERIODS = [
  ...WITHOUT_FILTERS,
  ...CREATE_DROPPED_INDEXES,
  'DROP INDEX orders_by_fulfilment',
  `CREATE TABLE sums (step INTEGER, start INTEGER, status INTEGER, currency TEXT, orders INTEGER,
    co2e_kg INTEGER, co2e_mg INTEGER, amount_minor INTEGER)`,
  `INSERT INTO sums SELECT 0, day, status, currency, orders, co2e_kg, co2e_mg, amount_minor
    FROM order_totals`,
  'CREATE TABLE counts (step INTEGER)',
  'DROP TABLE order_totals',
]

/** The schema version of PostgreSQL with totals by day only. */
const POSTGRES_TOTALS = 19

/** The same for PostgreSQL, from the current version. */
export const POSTGRES_WITH_PERIODS = [
  ...getMigrations('postgres').slice(POSTGRES_TOTALS).reverse().flatMap(undo),
  ...WITHOUT_FILTERS,
  ...CREATE_DROPPED_INDEXES,
  'ALTER TABLE order_totals RENAME TO day_totals',
  'ALTER INDEX order_totals_pkey RENAME TO day_totals_pkey',
  `CREATE TABLE order_totals (
    step SMALLINT, start INTEGER, status SMALLINT, currency TEXT, orders BIGINT, co2e_mg NUMERIC,
    amount_minor NUMERIC, PRIMARY KEY (step, start, status, currency)
  )`,
  `INSERT INTO order_totals
    SELECT 0, day, status, currency, orders, co2e_kg * 1000000 + co2e_mg, amount_minor
    FROM day_totals`,
  'DROP TABLE day_totals',
  `CREATE TABLE order_counts (
    step SMALLINT, start INTEGER, status SMALLINT, calculator_type SMALLINT, currency TEXT,
    orders BIGINT, PRIMARY KEY (step, start, status, calculator_type, currency)
  )`,
  `CREATE TABLE order_total_changes (
    day INTEGER, status SMALLINT, currency TEXT, orders SMALLINT, co2e_mg BIGINT,
    amount_minor BIGINT
  )`,
]

/** The schema version of PostgreSQL before orders remembered their statuses. */
export const POSTGRES_WITHOUT_STATUS_COLUMNS = 15

/** Undoes the migration of PostgreSQL from that version. */
export const POSTGRES_DOWNGRADE = [
  ...POSTGRES_WITH_PERIODS,
  'ALTER TABLE orders DROP COLUMN exception',
  ...DROP_STATUS_COLUMNS,
  `ALTER TABLE orders ADD COLUMN exception SMALLINT GENERATED ALWAYS AS (
    CASE WHEN order_source_id IS NULL AND attempt ->> 'state' = 'placed' THEN 2 END
  ) STORED`,
  `UPDATE schema_version SET version = ${POSTGRES_WITHOUT_STATUS_COLUMNS}`,
]

/** Undoes migrations of SQLite whose statements have no inverse, by schema version. */
const DOWNGRADES: Readonly<Record<number, readonly string[]>> = {
  21: WITH_PERIODS,
  20: [], // undone by WITH_PERIODS
  19: [`UPDATE api_keys SET scopes = replace(scopes, ',"orders:settle"', '')`],
  18: WITHOUT_STATUS_COLUMNS,
  17: ["INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 0)"],
  4: [
    'DROP INDEX orders_by_exception',
    'ALTER TABLE orders DROP COLUMN exception',
    'ALTER TABLE orders DROP COLUMN attempt',
  ],
  2: ['DROP INDEX orders_by_source_id', 'DROP INDEX changes_placed'],
}

/** Converts an order database to the schema of an earlier version of Clearwake. */
export function downgradeStore(path: string, version: number): void {
  const db = new Database(path)
  const migrations = getMigrations('sqlite')
  for (let from = SCHEMA_VERSION; from > version; from--) {
    db.exec((DOWNGRADES[from] ?? undo(migrations[from - 1] ?? [])).join(';'))
  }
  db.pragma(`user_version = ${version}`)
  db.close()
}
