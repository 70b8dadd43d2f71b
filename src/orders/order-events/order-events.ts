import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { getFormatters, type Formatters } from '../../core/formatting/portal-formatters.js'
import { getLocale } from '../../core/http/locale.js'
import { Problem } from '../../core/http/problem.js'
import { HOUR_MS } from '../../core/time.js'
import { requeueMessage, UNSENT_STATES } from '../../outbox/messages.js'
import {
  buildMessageView,
  getMessage,
  listMessages,
  readDeliveries,
  type Delivery,
} from '../../outbox/read-messages.js'
import type { OrderEvent } from '../order-event.js'
import { createProjections, type Projection } from '../store/projections.js'
import {
  createEventDispatcher,
  EVENT_QUEUE,
  type EventConsumer,
  type EventDispatcher,
} from './event-dispatcher.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Passes order events to the features that consume them */
    events: Events
  }
}

interface Events extends EventDispatcher {
  /**
   * Passes all orders, and their later versions, to a projection; never an earlier version after a
   * later one.
   *
   * @param name stored, so never rename one
   * @param title for staff, as with `addConsumer`
   * @returns a function to call before the projection is read: it throws a Problem (503) until all
   *   orders are in it
   */
  project: (name: string, project: Projection, title?: string) => () => Promise<void>
}

const MANAGE = { config: { permission: 'mail:manage' } } as const

const EVENTS_URL = '/admin/settings/events'
const MAX_EVENTS = 100

const STATES = { pending: 'Waiting', sent: 'Processed', failed: 'Failed', cancelled: 'Cancelled' }

function buildEventView(
  delivery: Delivery,
  getTitle: (consumer: string) => string,
  format: Formatters,
) {
  const { id, type, payload } = delivery.message
  const { order } = payload as OrderEvent
  return {
    ...buildMessageView(delivery, STATES, format),
    title: getTitle(type),
    subject: `version ${order.version}`,
    order: { href: `/admin/orders/${order.id}`, number: order.orderNumber },
    note: 'Not retried yet.',
    sendUrl: `${EVENTS_URL}/${id}/retry`,
    sendLabel: 'Try again',
  }
}

/** Settings: changes to orders that could not be processed completely. */
const pages: FastifyPluginAsync = async (app) => {
  app.settings.addPage({ href: EVENTS_URL, label: 'Events', permission: 'mail:manage' })

  app.get(EVENTS_URL, MANAGE, async (request, reply) => {
    const locale = getLocale(request.headers['accept-language'])
    const format = getFormatters(locale, app.config.TIME_ZONE)
    const slice = { limit: MAX_EVENTS, offset: 0, states: UNSENT_STATES }
    const messages = await listMessages(app.database, EVENT_QUEUE, slice)
    const deliveries = await readDeliveries(app.database, messages)
    return reply.renderSettings(
      { page: 'orders/events' },
      {
        timeZone: app.config.TIME_ZONE,
        events: deliveries.map((delivery) => buildEventView(delivery, app.events.getTitle, format)),
      },
    )
  })

  app.post<{ Params: { id: string } }>(
    `${EVENTS_URL}/:id/retry`,
    MANAGE,
    async (request, reply) => {
      const message = await getMessage(app.database, request.params.id)
      if (message?.queue !== EVENT_QUEUE) throw new Problem(404, 'Event not found.')
      await requeueMessage(app.database, message.id)
      return reply.redirect(EVENTS_URL, 303)
    },
  )
}

const POLL_MS = 500
/** New orders have events, so only orders without events wait for this. */
const WALK_POLL_MS = 5_000

/** Passes order events to the features that consume them. */
export default fp(
  async (app) => {
    const events = createEventDispatcher(app.orders, app.database, app.log)
    const projections = createProjections(app.database)
    const names: string[] = []
    app.decorate('events', {
      ...events,
      project(name, project, title) {
        const consume: EventConsumer = (tx, { order }) =>
          projections.projectOrder(tx, order.id, project)
        events.addConsumer(name, consume, title)
        names.push(name)
        app.schedule(`project ${name}`, WALK_POLL_MS, () => projections.walk(name, project))
        return async () => {
          app.orders.check()
          await projections.check(name)
        }
      },
    })
    app.schedule('forget projections', HOUR_MS, () => projections.forgetOthers(names))
    app.outbox.addSender(events.sender)
    app.portalPages.push(pages)
    app.readiness.set('events', () => events.getReadiness())
    app.schedule('dispatch events', POLL_MS, () => events.dispatch())
  },
  { name: 'events', dependencies: ['orders', 'outbox', 'health', 'scheduler'] },
)
