import fp from 'fastify-plugin'
import { openPostgres, type Postgres } from '../database/postgres.js'
import { migratePostgres } from '../database/postgres-migrations.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The database that several processes share; `null` if each has its own files */
    postgres: Postgres | null
  }
}

/** Connects to PostgreSQL if it is configured, and migrates its schema. */
export default fp(
  async (app) => {
    const { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize } = app.config
    const postgres =
      url === undefined
        ? null
        : openPostgres(url, {
            poolSize,
            onError: (err) => app.log.warn({ err }, 'a connection to PostgreSQL was lost'),
          })
    app.decorate('postgres', postgres)
    if (postgres === null) return
    app.addHook('onClose', () => postgres.close())
    app.readiness.set('database', () => postgres.getReadiness())
    await migratePostgres(postgres)
  },
  { name: 'database', dependencies: ['config', 'telemetry'] },
)
