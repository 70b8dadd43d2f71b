import { existsSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Database as SqliteFile } from 'better-sqlite3'
import { DatabaseError, type Database, type Queryable } from './database.js'
import { existsAlready, isDuplicate } from './postgres.js'

type Engine = 'sqlite' | 'postgres'

/**
 * The statements of a migration from one schema version to the next, without question marks. An
 * engine that a migration leaves out keeps its version.
 */
type Migration = Partial<Record<Engine | 'both', readonly string[]>>

/**
 * What the `tables.ts` of a feature exports by default: its migrations, by their number in the
 * order of all.
 */
export type Migrations = Readonly<Record<number, Migration>>

/** Sorts migrations by number. Throws if the numbers do not count from 1. */
export function sortMigrations(features: readonly Migrations[]): Migration[] {
  const sorted = features
    .flatMap((migrations) => Object.entries(migrations))
    .toSorted(([a], [b]) => Number(a) - Number(b))
  const numbers = sorted.map(([number]) => Number(number))
  if (numbers.some((number, i) => number !== i + 1))
    throw new Error(`Migrations are missing or have the same number: ${numbers.join(', ')}`)
  return sorted.map(([, migration]) => migration)
}

/** Reads the migrations of all features. */
async function readMigrations(): Promise<Migration[]> {
  const source = join(import.meta.dirname, '..')
  const features: Migrations[] = []
  for (const feature of readdirSync(source)) {
    const path = join(source, feature, `tables${extname(import.meta.url)}`)
    if (!existsSync(path)) continue
    const module = (await import(pathToFileURL(path).href)) as { default: Migrations }
    features.push(module.default)
  }
  return sortMigrations(features)
}

const MIGRATIONS = await readMigrations()

const getStatements = (migration: Migration, engine: Engine): readonly string[] | undefined =>
  migration[engine] ?? migration.both

/** The migrations of an engine; the number of those that were applied is its schema version. */
export const getMigrations = (engine: Engine): (readonly string[])[] =>
  MIGRATIONS.flatMap((migration) => {
    const statements = getStatements(migration, engine)
    return statements === undefined ? [] : [statements]
  })

/** Tables of orders, which are not copied row by row from one engine to another. */
const ORDER_TABLES = ['orders', 'changes', 'settings', 'order_totals']

const listTables = (statements: readonly string[] = []): string[] =>
  [...statements.join('\n').matchAll(/CREATE TABLE (\w+)/g)].map(([, name = '']) => name)

/** Tables with the same columns in both engines, which can be copied from one to the other. */
export const SHARED_TABLES: readonly string[] = MIGRATIONS.flatMap((migration) => {
  const inPostgres = listTables(getStatements(migration, 'postgres'))
  return listTables(getStatements(migration, 'sqlite')).filter(
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
