import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Runs a job repeatedly in the background, from when the service is ready until it closes,
     * with a pause of `everyMs` after each run. An error is logged, and the job runs again.
     */
    schedule: (name: string, everyMs: number, job: () => Promise<void>) => void
  }
}

/** Background jobs. */
export default fp(
  async (app) => {
    const closing = new AbortController()
    // Each job waits for it.
    setMaxListeners(0, closing.signal)
    const loops: Promise<void>[] = []

    async function loop(name: string, everyMs: number, job: () => Promise<void>): Promise<void> {
      let hasFailed = false
      while (!closing.signal.aborted) {
        try {
          await job()
          if (hasFailed) app.log.info({ job: name }, 'background job recovered')
          hasFailed = false
        } catch (err) {
          // Logged once, however long a database is unavailable.
          if (!hasFailed) app.log.error({ err, job: name }, 'background job failed')
          hasFailed = true
        }
        await sleep(everyMs, undefined, { signal: closing.signal, ref: false }).catch(
          () => undefined,
        )
      }
    }

    app.decorate('schedule', (name, everyMs, job) => {
      app.addHook('onReady', async () => void loops.push(loop(name, everyMs, job)))
    })
    // Before anything that a job uses is closed.
    app.addHook('preClose', async () => {
      closing.abort()
      await Promise.all(loops)
    })
  },
  { name: 'scheduler' },
)
