import fp from 'fastify-plugin'
import { fileKeeper } from '../shared-memory/keeper.js'
import { processMemory } from '../shared-memory/process-memory.js'
import { redisMemory } from '../shared-memory/redis-memory.js'
import type { SharedMemory } from '../shared-memory/shared-memory.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** What all processes of this service know: ended sessions, failed logins */
    sharedMemory: SharedMemory
  }
}

/** Shares memory with the other processes through Redis where REDIS_URL is set. */
export default fp(
  async (app) => {
    const { DATA_DIR, REDIS_URL } = app.config
    if (REDIS_URL === undefined) {
      const memory = processMemory(fileKeeper(DATA_DIR, app.log))
      app.decorate('sharedMemory', memory)
      app.addHook('onClose', async () => memory.close())
      return
    }
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
