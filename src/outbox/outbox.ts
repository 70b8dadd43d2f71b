import fp from 'fastify-plugin'
import { HOUR_MS } from '../core/time.js'
import { createOutboxWorker, type OutboxWorker } from './outbox-worker.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Sends the messages that features have queued */
    outbox: OutboxWorker
  }
}

const POLL_MS = 500

/** Sends the messages in the outbox. */
export default fp(
  async (app) => {
    const outbox = createOutboxWorker(app.database, app.log, app.metrics)
    app.decorate('outbox', outbox)
    app.schedule('send messages', POLL_MS, () => outbox.sendDue())
    app.schedule('delete old messages', HOUR_MS, () => outbox.deleteOld())
    app.addHook('preClose', () => outbox.close())
  },
  { name: 'outbox', dependencies: ['database', 'scheduler', 'telemetry'] },
)
