import fp from 'fastify-plugin'
import { openStateFile, type StateFile } from '../state-store/state-file.js'
import { openMemoryStore, type MemoryStore } from '../state-store/memory-store.js'
import type { KeyValueStore } from '../state-store/key-value-store.js'
import { ConfigError } from '../config/config.js'
import { describeFileError } from '../config/describe-file-error.js'
import type { Readiness } from './telemetry.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** What all processes of this service know: ended sessions, failed logins */
    sharedMemory: KeyValueStore
  }
}

const CANNOT = 'DATA_DIR cannot hold which sessions have ended'

function memoryOver(keeper: StateFile): MemoryStore {
  try {
    return openMemoryStore(keeper)
  } catch (error) {
    throw new ConfigError([`${CANNOT} (${describeFileError(error)})`])
  }
}

function writable(keeper: StateFile): Readiness {
  try {
    keeper.check()
    return { ready: true, detail: 'ended sessions are written down' }
  } catch (error) {
    return { ready: false, detail: `${CANNOT} (${describeFileError(error)})` }
  }
}

/** Shares memory with the other processes through Redis where REDIS_URL is set. */
export default fp(
  async (app) => {
    const { DATA_DIR, REDIS_URL } = app.config
    if (REDIS_URL === undefined) {
      const keeper = openStateFile(DATA_DIR, app.log)
      const memory = memoryOver(keeper)
      app.decorate('sharedMemory', memory)
      app.addHook('onClose', async () => memory.close())
      app.readiness.set('sessions', async () => writable(keeper))
      return
    }
    // Its client takes a while to load, which most starts can do without.
    const { connectRedisStore } = await import('../state-store/redis-store.js')
    const memory = await connectRedisStore(REDIS_URL, app.log)
    app.decorate('sharedMemory', memory)
    app.addHook('onClose', async () => memory.close())
    app.readiness.set('redis', async () => {
      const ready = await memory.isThere()
      return { ready, detail: ready ? 'answers' : 'does not answer: no administrator can work' }
    })
  },
  { name: 'state-store', dependencies: ['config', 'telemetry'] },
)
