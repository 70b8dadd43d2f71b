import fp from 'fastify-plugin'
import { openStateFile, type StateFile } from '../state-store/state-file.js'
import { openMemoryStore, type MemoryStore } from '../state-store/memory-store.js'
import { openPostgresStore } from '../state-store/postgres-store.js'
import type { KeyValueStore } from '../state-store/key-value-store.js'
import { ConfigError } from '../config/config-error.js'
import { describeFileError } from '../config/describe-file-error.js'
import type { Readiness } from './telemetry.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Revoked sessions, failed sign-ins */
    stateStore: KeyValueStore
  }
}

const NOT_WRITABLE = 'revoked sessions cannot be persisted in DATA_DIR'

function openOrThrow(file: StateFile): MemoryStore {
  try {
    return openMemoryStore(file)
  } catch (error) {
    throw new ConfigError([`${NOT_WRITABLE} (${describeFileError(error)})`])
  }
}

function checkReadiness(file: StateFile): Readiness {
  try {
    file.checkWritable()
    return { ready: true, detail: 'revoked sessions are persisted' }
  } catch (error) {
    return { ready: false, detail: `${NOT_WRITABLE} (${describeFileError(error)})` }
  }
}

/** Shares state through PostgreSQL if it is configured; otherwise in memory, persisted in DATA_DIR. */
export default fp(
  async (app) => {
    const { postgres } = app
    if (postgres === null) {
      const file = openStateFile(app.config.DATA_DIR, app.log)
      const store = openOrThrow(file)
      app.decorate('stateStore', store)
      app.addHook('onClose', async () => store.close())
      app.readiness.set('sessions', async () => checkReadiness(file))
      return
    }
    const store = openPostgresStore(postgres, (err) =>
      app.log.warn({ err }, 'expired state could not be deleted'),
    )
    app.decorate('stateStore', store)
    app.addHook('onClose', async () => store.close())
  },
  { name: 'state-store', dependencies: ['config', 'database', 'telemetry'] },
)
