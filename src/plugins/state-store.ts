import fp from 'fastify-plugin'
import { openStateFile, type StateFile } from '../state-store/state-file.js'
import { openMemoryStore, type MemoryStore } from '../state-store/memory-store.js'
import type { KeyValueStore } from '../state-store/key-value-store.js'
import { ConfigError } from '../config/config-error.js'
import { describeFileError } from '../config/describe-file-error.js'
import type { Readiness } from './telemetry.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** State shared by all processes: revoked sessions, failed sign-ins */
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

/** Shares state through Redis if REDIS_URL is set; otherwise in memory, persisted in DATA_DIR. */
export default fp(
  async (app) => {
    const { DATA_DIR, REDIS_URL } = app.config
    if (REDIS_URL === undefined) {
      const file = openStateFile(DATA_DIR, app.log)
      const store = openOrThrow(file)
      app.decorate('stateStore', store)
      app.addHook('onClose', async () => store.close())
      app.readiness.set('sessions', async () => checkReadiness(file))
      return
    }
    const { connectRedisStore } = await import('../state-store/redis-store.js')
    const store = await connectRedisStore(REDIS_URL, app.log)
    app.decorate('stateStore', store)
    app.addHook('onClose', async () => store.close())
    app.readiness.set('redis', async () => {
      const ready = await store.isAvailable()
      return { ready, detail: ready ? 'available' : 'unavailable: administrators cannot sign in' }
    })
  },
  { name: 'state-store', dependencies: ['config', 'telemetry'] },
)
