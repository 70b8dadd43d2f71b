import fp from 'fastify-plugin'
import { openMemoryStore } from './memory-store.js'
import { openPostgresStore } from './postgres-store.js'
import type { KeyValueStore } from './key-value-store.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Failed sign-ins and other rate limits */
    stateStore: KeyValueStore
  }
}

/** Shares state through PostgreSQL if it is configured; otherwise keeps it in memory. */
export default fp(
  async (app) => {
    const { database } = app
    const store =
      database.engine === 'sqlite'
        ? openMemoryStore()
        : openPostgresStore(database, (err) =>
            app.log.warn({ err }, 'expired state could not be deleted'),
          )
    app.decorate('stateStore', store)
    app.addHook('onClose', async () => store.close())
  },
  { name: 'state-store', dependencies: ['database'] },
)
