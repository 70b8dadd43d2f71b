import fp from 'fastify-plugin'
import type { Database } from './database.js'
import { openServiceDatabase } from './open-service-database.js'
import type { Postgres } from './postgres.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The database of the service */
    database: Database
    /** The same database if it is PostgreSQL; `null` if it is a SQLite file */
    postgres: Postgres | null
  }
}

/** Opens the database of the service, SQLite or PostgreSQL, and migrates its schema. */
export default fp(
  async (app) => {
    const { database, postgres } = await openServiceDatabase(app.config, (err) =>
      app.log.warn({ err }, 'a connection to PostgreSQL was lost'),
    )
    app.decorate('database', database)
    app.decorate('postgres', postgres)
    app.addHook('onClose', () => database.close())
    if (postgres !== null) app.readiness.set('database', () => postgres.getReadiness())
  },
  { name: 'database', dependencies: ['config', 'telemetry'] },
)
