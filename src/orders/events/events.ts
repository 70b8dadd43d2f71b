import fp from 'fastify-plugin'
import { createEventDispatcher, type EventDispatcher } from './event-dispatcher.js'
import pages from './pages.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Passes order events to the features that consume them */
    events: EventDispatcher
  }
}

const POLL_MS = 500

/** Passes order events to the features that consume them. */
export default fp(
  async (app) => {
    const events = createEventDispatcher(app.orders, app.database, app.log)
    app.decorate('events', events)
    app.outbox.addSender(events.sender)
    app.portalPages.push(pages)
    app.readiness.set('events', () => events.getReadiness())
    app.schedule('dispatch events', POLL_MS, () => events.dispatch())
  },
  { name: 'events', dependencies: ['orders', 'outbox', 'health', 'scheduler'] },
)
