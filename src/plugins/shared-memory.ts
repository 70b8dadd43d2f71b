import fp from 'fastify-plugin'
import { fileKeeper, type Keeper } from '../shared-memory/keeper.js'
import { processMemory, type ProcessMemory } from '../shared-memory/process-memory.js'
import type { SharedMemory } from '../shared-memory/shared-memory.js'
import { ConfigError } from './config.js'
import { fileFault } from './file-fault.js'
import type { Readiness } from './telemetry.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** What all processes of this service know: ended sessions, failed logins */
    sharedMemory: SharedMemory
  }
}

const CANNOT = 'DATA_DIR cannot hold which sessions have ended'

function memoryOver(keeper: Keeper): ProcessMemory {
  try {
    return processMemory(keeper)
  } catch (error) {
    throw new ConfigError([`${CANNOT} (${fileFault(error)})`])
  }
}

function writable(keeper: Keeper): Readiness {
  try {
    keeper.check()
    return { ready: true, detail: 'ended sessions are written down' }
  } catch (error) {
    return { ready: false, detail: `${CANNOT} (${fileFault(error)})` }
  }
}

/** Shares memory with the other processes through Redis where REDIS_URL is set. */
export default fp(
  async (app) => {
    const { DATA_DIR, REDIS_URL } = app.config
    if (REDIS_URL === undefined) {
      const keeper = fileKeeper(DATA_DIR, app.log)
      const memory = memoryOver(keeper)
      app.decorate('sharedMemory', memory)
      app.addHook('onClose', async () => memory.close())
      app.readiness.set('sessions', async () => writable(keeper))
      return
    }
    // Its client takes a while to load, which most starts can do without.
    const { redisMemory } = await import('../shared-memory/redis-memory.js')
    const memory = await redisMemory(REDIS_URL, app.log)
    app.decorate('sharedMemory', memory)
    app.addHook('onClose', async () => memory.close())
    app.readiness.set('redis', async () => {
      const ready = await memory.isThere()
      return { ready, detail: ready ? 'answers' : 'does not answer: no administrator can work' }
    })
  },
  { name: 'shared-memory', dependencies: ['config', 'telemetry'] },
)
