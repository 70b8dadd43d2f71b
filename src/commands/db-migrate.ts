import { ConfigError } from '../core/config/config-part.js'
import { migratePostgres, POSTGRES_SCHEMA_VERSION } from '../database/migrations.js'
import { openPostgres } from '../database/postgres.js'
import { describeError, fail, loadConfig } from './command.js'

/* Migrates the PostgreSQL database, as the service does at start-up. */
try {
  const { DATABASE_URL: url } = await loadConfig()
  if (url === undefined) {
    throw new ConfigError(['DATABASE_URL is not set: SQLite is migrated at start-up'])
  }
  const postgres = openPostgres(url, { poolSize: 1 })
  const before = await migratePostgres(postgres)
  await postgres.close()
  process.stdout.write(
    before === POSTGRES_SCHEMA_VERSION
      ? `The schema is up to date (version ${before}).\n`
      : `The schema was migrated from version ${before} to ${POSTGRES_SCHEMA_VERSION}.\n`,
  )
} catch (error) {
  fail(describeError(error))
}
