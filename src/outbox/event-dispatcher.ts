import type { Database, Queryable } from '../database/database.js'
import type { OrderStore } from '../order-store/order-store.js'
import type { OrderEvent } from '../orders/order-event.js'

/**
 * Turns an order event into outbox messages, in a transaction. An event can be passed more than
 * once, so the IDs of the messages must depend only on the order and its version.
 */
export type EventConsumer = (tx: Queryable, event: OrderEvent) => Promise<void>

const BATCH_SIZE = 100

/** Passes order events to the consumers, each at least once. */
export function createEventDispatcher(
  store: Pick<OrderStore, 'readEvents' | 'deleteEvents'>,
  database: Database,
) {
  const consumers: EventConsumer[] = []

  return {
    addConsumer: (consumer: EventConsumer): void => void consumers.push(consumer),

    /** Processes all events stored so far. Call it regularly. */
    async dispatch(): Promise<void> {
      for (;;) {
        const events = await store.readEvents(BATCH_SIZE)
        if (events.length === 0) return
        await database.write(async (tx) => {
          for (const event of events) {
            for (const consume of consumers) await consume(tx, event)
          }
        })
        await store.deleteEvents(events.map(({ id }) => id))
        if (events.length < BATCH_SIZE) return
      }
    },
  }
}

export type EventDispatcher = ReturnType<typeof createEventDispatcher>
