import type { Database as SqliteFile } from 'better-sqlite3'
import { DatabaseError, type Database, type Queryable } from './database.js'
import { existsAlready, isDuplicate } from './postgres.js'
import {
  ACCOUNT_TABLES,
  API_KEY_TABLES,
  AUDIT_TABLES,
  CERTIFICATE_TABLES,
  CONVERSION_TABLES,
  createOutboxTables,
  NOCODB_TABLES,
  ORDER_VIEW_TABLES,
  ORDERING_MIGRATION,
  PAYMENT_MIGRATION,
  PROJECTION_TABLES,
  SECOND_FACTOR_TABLES,
  SESSION_TABLES,
  SETTLE_SCOPE_MIGRATION,
  STATE_TABLES,
  WEBHOOK_TABLES,
} from './tables/feature-tables.js'
import { createStatusMigration, createTotalsMigration } from './tables/order-migrations.js'
import * as postgresOrders from './tables/postgres-order-tables.js'
import * as sqliteOrders from './tables/sqlite-order-tables.js'

/**
 * A migration from one schema version to the next, as a list of statements without question marks.
 * An engine that it leaves out keeps its version.
 */
interface Migration {
  sqlite?: readonly string[]
  postgres?: readonly string[]
}

/** A migration that is the same for both engines. */
const both = (statements: readonly string[]): Migration => ({
  sqlite: statements,
  postgres: statements,
})

/** All migrations, in order. Never edit a released one, except for comments. */
const MIGRATIONS: readonly Migration[] = [
  { sqlite: sqliteOrders.ORDER_TABLES, postgres: postgresOrders.ORDER_TABLES },
  { sqlite: sqliteOrders.PLACEMENT_INDEXES },
  { postgres: STATE_TABLES },
  // JSON; NULL if the edition was not recorded
  { sqlite: ['ALTER TABLE orders ADD COLUMN calculation TEXT'] },
  { sqlite: sqliteOrders.ATTEMPT_COLUMNS },
  { sqlite: createOutboxTables('sqlite'), postgres: createOutboxTables('postgres') },
  both(API_KEY_TABLES),
  both(ORDER_VIEW_TABLES),
  both(WEBHOOK_TABLES),
  both(ORDERING_MIGRATION),
  both(CONVERSION_TABLES),
  both(CERTIFICATE_TABLES),
  both(PAYMENT_MIGRATION),
  { postgres: postgresOrders.TOTALS_WITHOUT_TYPES },
  both(ACCOUNT_TABLES),
  both(SESSION_TABLES),
  both(AUDIT_TABLES),
  both(SECOND_FACTOR_TABLES),
  // So that erased personal data does not stay in the index.
  { sqlite: ["INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1)"] },
  { sqlite: createStatusMigration('sqlite'), postgres: createStatusMigration('postgres') },
  both(SETTLE_SCOPE_MIGRATION),
  { sqlite: sqliteOrders.AMOUNT_INDEX, postgres: postgresOrders.AMOUNT_INDEX },
  { sqlite: createTotalsMigration('sqlite'), postgres: createTotalsMigration('postgres') },
  both(NOCODB_TABLES),
  both(PROJECTION_TABLES),
]

/** The migrations of an engine; the number of those that were applied is its schema version. */
export const getMigrations = (engine: keyof Migration): (readonly string[])[] =>
  MIGRATIONS.flatMap((migration) => {
    const statements = migration[engine]
    return statements === undefined ? [] : [statements]
  })

/** Tables of orders, which are not copied row by row from one engine to another. */
const ORDER_TABLES = ['orders', 'changes', 'settings', 'order_totals']

const listTables = (statements: readonly string[] = []): string[] =>
  [...statements.join('\n').matchAll(/CREATE TABLE (\w+)/g)].map(([, name = '']) => name)

/** Tables with the same columns in both engines, which can be copied from one to the other. */
export const SHARED_TABLES: readonly string[] = MIGRATIONS.flatMap(({ sqlite, postgres }) => {
  const inPostgres = listTables(postgres)
  return listTables(sqlite).filter(
    (table) => inPostgres.includes(table) && !ORDER_TABLES.includes(table),
  )
})

/** Marks a SQLite file as an order database ("ClwK"). */
export const APPLICATION_ID = 0x436c774b

const SQLITE_MIGRATIONS = getMigrations('sqlite')

/** The schema version of this version of Clearwake. */
export const SCHEMA_VERSION = SQLITE_MIGRATIONS.length

/** The schema version of a database; 0 if it is empty. */
export const getSchemaVersion = (db: SqliteFile): number =>
  db.pragma('user_version', { simple: true }) as number

/** Migrates a database to the current schema version, in one transaction. */
export function migrate(db: SqliteFile): void {
  // Avoids waiting for the write lock.
  if (getSchemaVersion(db) === SCHEMA_VERSION) return
  db.transaction(() => {
    // Read again, because another process may have migrated the database since.
    for (const statements of SQLITE_MIGRATIONS.slice(getSchemaVersion(db))) {
      db.exec(statements.join(';\n'))
    }
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${SCHEMA_VERSION}`)
  }).immediate()
}

const POSTGRES_MIGRATIONS = getMigrations('postgres')

/** The schema version of this version of Clearwake. */
export const POSTGRES_SCHEMA_VERSION = POSTGRES_MIGRATIONS.length

const LOCK = `
  CREATE TABLE IF NOT EXISTS schema_version (id INTEGER PRIMARY KEY, version INTEGER NOT NULL);
  INSERT INTO schema_version VALUES (1, 0) ON CONFLICT DO NOTHING`

/** IF NOT EXISTS does not help if multiple processes create the table at the same time. */
async function createVersionTable(postgres: Database): Promise<void> {
  try {
    await postgres.write((tx) => tx.query(LOCK))
  } catch (error) {
    if (!isDuplicate(error) && !existsAlready(error)) throw error
    await postgres.write((tx) => tx.query(LOCK))
  }
}

const createNewerError = (version: number): DatabaseError =>
  new DatabaseError(
    `the PostgreSQL database was migrated by a newer version of Clearwake (schema version ${version}; this version supports ${POSTGRES_SCHEMA_VERSION}).`,
  )

const readVersion = async (tx: Queryable, suffix = ''): Promise<number> => {
  const [row] = await tx.query<{ version: number }>(`SELECT version FROM schema_version ${suffix}`)
  return row?.version ?? 0
}

/**
 * Migrates a database to the current schema version. Safe when several processes start at once: one
 * migrates, the others wait. Returns the previous version. Throws DatabaseError if a newer version
 * has migrated the database.
 */
export async function migratePostgres(postgres: Database): Promise<number> {
  await createVersionTable(postgres)
  return postgres.migrate(async (tx) => {
    const version = await readVersion(tx, 'FOR UPDATE')
    if (version > POSTGRES_SCHEMA_VERSION) throw createNewerError(version)
    if (version === POSTGRES_SCHEMA_VERSION) return version
    for (const statements of POSTGRES_MIGRATIONS.slice(version)) {
      for (const statement of statements) await tx.query(statement)
    }
    await tx.query(`UPDATE schema_version SET version = ${POSTGRES_SCHEMA_VERSION}`)
    return version
  })
}
