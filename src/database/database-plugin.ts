import fp from 'fastify-plugin'
import type { Database } from './database.js'
import { openServiceDatabase } from './open-service-database.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The database of the service */
    database: Database
  }
}

/** Opens the database of the service, SQLite or PostgreSQL, and migrates its schema. */
export default fp(
  async (app) => {
    const database = await openServiceDatabase(app.config, (err) =>
      app.log.warn({ err }, 'a connection to PostgreSQL was lost'),
    )
    app.decorate('database', database)
    app.addHook('onClose', () => database.close())
    if (database.engine === 'postgres') {
      app.readiness.set('database', () => database.getReadiness())
    }
  },
  { name: 'database', dependencies: ['config', 'telemetry'] },
)
