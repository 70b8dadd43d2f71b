import fp from 'fastify-plugin'
import { getDatabasePath } from '../database/database-path.js'
import type { Database } from '../database/database.js'
import { openPostgres, type Postgres } from '../database/postgres.js'
import { migratePostgres } from '../database/postgres-migrations.js'
import { openSqliteDatabase } from '../database/sqlite-database.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The database of the service */
    database: Database
    /** The same, if it is PostgreSQL; `null` if it is a SQLite file */
    postgres: Postgres | null
  }
}

/** Opens the database of the service, SQLite or PostgreSQL, and migrates its schema. */
export default fp(
  async (app) => {
    const { DATA_DIR, DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize } = app.config
    const postgres =
      url === undefined
        ? null
        : openPostgres(url, {
            poolSize,
            onError: (err) => app.log.warn({ err }, 'a connection to PostgreSQL was lost'),
          })
    const database = postgres ?? openSqliteDatabase(getDatabasePath(DATA_DIR))
    app.decorate('database', database)
    app.decorate('postgres', postgres)
    app.addHook('onClose', () => database.close())
    if (postgres === null) return
    app.readiness.set('database', () => postgres.getReadiness())
    await migratePostgres(postgres)
  },
  { name: 'database', dependencies: ['config', 'telemetry'] },
)
