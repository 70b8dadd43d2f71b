import { getDatabasePath } from './database-path.js'
import type { Database } from './database.js'
import { openPostgres } from './postgres.js'
import { migratePostgres } from './postgres-migrations.js'
import { openSqliteDatabase } from './sqlite-database.js'

interface Settings {
  DATA_DIR: string
  DATABASE_URL?: string
  DATABASE_POOL_SIZE: number
}

/**
 * Opens the configured database and migrates its schema. Throws DatabaseError,
 * DatabaseUnavailableError or CommitUnknownError.
 *
 * @param onError called when an idle connection fails
 */
export async function openServiceDatabase(
  { DATA_DIR, DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize }: Settings,
  onError?: (error: Error) => void,
): Promise<Database> {
  if (url === undefined) {
    return openSqliteDatabase(getDatabasePath(DATA_DIR))
  }
  const postgres = openPostgres(url, onError === undefined ? { poolSize } : { poolSize, onError })
  try {
    await migratePostgres(postgres)
  } catch (error) {
    await postgres.close()
    throw error
  }
  return postgres
}
