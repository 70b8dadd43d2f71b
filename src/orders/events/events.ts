import fp from 'fastify-plugin'
import { createEventDispatcher, type EventDispatcher } from './event-dispatcher.js'
import pages from './pages.js'
import { createOutboxWorker, type OutboxWorker } from '../../events/outbox-worker.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Passes order events to the features that consume them */
    events: EventDispatcher
    /** Sends the messages that features have queued */
    outbox: OutboxWorker
  }
}

const POLL_MS = 500
const HOUR_MS = 60 * 60 * 1000

/** Order events, and the background work that they lead to. */
export default fp(
  async (app) => {
    const events = createEventDispatcher(app.orders, app.database, app.log)
    const outbox = createOutboxWorker(app.database, app.log, app.metrics)
    app.decorate('events', events)
    app.decorate('outbox', outbox)
    outbox.addSender(events.sender)
    app.portalPages.push(pages)
    app.readiness.set('events', () => events.getReadiness())
    app.schedule('dispatch events', POLL_MS, () => events.dispatch())
    app.schedule('send messages', POLL_MS, () => outbox.sendDue())
    app.schedule('delete old messages', HOUR_MS, () => outbox.deleteOld())
    app.addHook('preClose', () => outbox.close())
  },
  { name: 'events', dependencies: ['orders', 'database', 'health', 'scheduler', 'telemetry'] },
)
