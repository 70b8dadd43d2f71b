import { DatabaseError, type Database, type Queryable } from './database.js'
import { getMigrations } from './migrations.js'
import { existsAlready, isDuplicate } from './postgres.js'

const MIGRATIONS = getMigrations('postgres')

/** The schema version of this version of Clearwake. */
export const POSTGRES_SCHEMA_VERSION = MIGRATIONS.length

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
    for (const statements of MIGRATIONS.slice(version)) {
      for (const statement of statements) await tx.query(statement)
    }
    await tx.query(`UPDATE schema_version SET version = ${POSTGRES_SCHEMA_VERSION}`)
    return version
  })
}
