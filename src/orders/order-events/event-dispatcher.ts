import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.js'
import type { Database, Queryable } from '../../database/database.js'
import { takeLease } from '../../database/state-store/state-store.js'
import {
  enqueueMessage,
  eraseMessages,
  getMessageId,
  UNSENT_STATES,
} from '../../outbox/messages.js'
import type { Sender } from '../../outbox/outbox.js'
import { countMessages } from '../../outbox/read-messages.js'
import { isErased, toErased } from '../erase-order.js'
import type { OrderEvent } from '../order-event.js'
import type { OrderStore } from '../store/order-store.js'

/**
 * Turns an order event into outbox messages, in a transaction. An event can be passed more than
 * once, and after later events of its order, so the IDs of the messages must depend only on the
 * order and its version.
 */
export type EventConsumer = (tx: Queryable, event: OrderEvent) => Promise<void>

/** The queue of events that a consumer could not process. The type of a message is the consumer. */
export const EVENT_QUEUE = 'event'

const BATCH_SIZE = 100

/** Another process takes over after this time if the process that passes events on ends. */
const LEASE_MS = 2 * SECOND_MS

const RETRY_DELAYS_MS = [
  30 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
]
const FIRST_DELAY_MS = 5 * SECOND_MS

interface Job {
  consumer: string
  event: OrderEvent
}

/**
 * Erases personal data from the events of an order that were set aside.
 *
 * @param isCancelled whether to give up the events
 */
export const eraseEvents = (
  tx: Queryable,
  orderId: string,
  { isCancelled }: { isCancelled: boolean },
): Promise<void> =>
  eraseMessages(tx, { orderId, queuePrefix: EVENT_QUEUE, isCancelled }, (payload) => {
    const event = payload as OrderEvent
    return { ...event, order: toErased(event.order) }
  })

/** Passes order events to the consumers, each at least once. */
export function createEventDispatcher(
  store: Pick<OrderStore, 'readEvents' | 'deleteEvents'>,
  database: Database,
  log: FastifyBaseLogger,
) {
  const lease = { name: 'events', holder: randomUUID() }
  const consumers = new Map<string, { consume: EventConsumer; title: string }>()
  consumers.set('erasure', {
    title: 'Erasure of personal data',
    async consume(tx, { order }) {
      if (isErased(order)) await eraseEvents(tx, order.id, { isCancelled: false })
    },
  })

  /** Stores an event apart from the others, to be retried by the outbox. */
  async function setAside({ consumer, event }: Job): Promise<void> {
    const { order } = event
    const message = {
      id: getMessageId('event', consumer, order.id, order.version, order.updatedAt),
      queue: EVENT_QUEUE,
      sequence: `${EVENT_QUEUE}:${consumer}:${order.id}`,
      type: consumer,
      orderId: order.id,
      payload: event,
    }
    await database.write((tx) => enqueueMessage(tx, message, Date.now() + FIRST_DELAY_MS))
  }

  /** Does all jobs in one transaction or, if one of them fails, each in its own. */
  async function run(jobs: readonly Job[]): Promise<void> {
    try {
      await database.write(async (tx) => {
        for (const { consumer, event } of jobs) await consumers.get(consumer)?.consume(tx, event)
      })
    } catch (err) {
      const [job, ...others] = jobs
      if (job === undefined) return
      if (others.length > 0) {
        for (const each of jobs) await run([each])
        return
      }
      await setAside(job)
      const { consumer, event } = job
      log.error({ err, consumer, order: event.order.id }, 'an event is set aside and retried')
    }
  }

  return {
    /**
     * Adds a consumer; throws if there is one of that name.
     *
     * @param name stored with the events that the consumer cannot process, so never rename one
     * @param title for staff: what does not happen while an event is set aside
     */
    addConsumer(name: string, consume: EventConsumer, title = name): void {
      if (consumers.has(name)) throw new Error(`Two consumers of order events are named ${name}`)
      consumers.set(name, { consume, title })
    },

    getTitle: (name: string): string => consumers.get(name)?.title ?? name,

    /** Processes all events stored so far, unless another process does. Call it regularly. */
    async dispatch(): Promise<void> {
      for (;;) {
        if ((await store.readEvents(1)).length === 0) return
        // Otherwise, each process would do the same work.
        if (!(await takeLease(database, lease, LEASE_MS))) return
        // Read afterwards, because another process may have passed on the events seen before.
        const events = await store.readEvents(BATCH_SIZE)
        await run(
          events.flatMap((event) => [...consumers.keys()].map((consumer) => ({ consumer, event }))),
        )
        await store.deleteEvents(events.map(({ id }) => id))
        if (events.length < BATCH_SIZE) return
      }
    },

    /** Reports the events that are set aside. They stop nothing else. */
    async getReadiness() {
      const count = await countMessages(database, EVENT_QUEUE, { states: UNSENT_STATES })
      const detail = count === 0 ? 'all processed' : `not processed: ${count}`
      return { ready: true, degraded: count > 0, detail }
    },

    /** Retries the events that were set aside. */
    sender: {
      queuePrefix: EVENT_QUEUE,
      concurrency: 1,
      leaseMs: MINUTE_MS,
      retryDelaysMs: RETRY_DELAYS_MS,
      async send({ type, payload }) {
        const consumer = consumers.get(type)
        if (consumer === undefined) {
          return { outcome: 'cancelled', status: null, detail: 'No longer needed' }
        }
        await database.write((tx) => consumer.consume(tx, payload as OrderEvent))
        return { outcome: 'sent', status: null, detail: 'Processed' }
      },
    } satisfies Sender,
  }
}

export type EventDispatcher = ReturnType<typeof createEventDispatcher>
