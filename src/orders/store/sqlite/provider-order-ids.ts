import type { Database } from 'better-sqlite3'
import type { ProviderOrderRef } from '../order-store.js'

/** More orders than any page shows. */
const MAX_WITH_SAME_ID = 10

const COLUMNS = 'orders.id AS id, order_number AS orderNumber'

/** Finds orders by their ID at the provider. */
export function createProviderOrderLookup(db: Database) {
  const withId = db.prepare<[string, number], ProviderOrderRef>(
    `SELECT ${COLUMNS}, order_source_id AS orderSourceId
     FROM orders INDEXED BY orders_by_source_id
     WHERE order_source_id IS NOT NULL AND order_source_id = ? ORDER BY id LIMIT ?`,
  )
  const withOtherId = db.prepare<[{ excluded: string }], ProviderOrderRef>(
    `SELECT ${COLUMNS}, order_source_id AS orderSourceId
     FROM orders INDEXED BY orders_by_source_id
     WHERE order_source_id IS NOT NULL
       AND order_source_id NOT IN (SELECT value FROM json_each(@excluded))
     UNION ALL
     SELECT ${COLUMNS}, change.value ->> '$.to.orderSourceId'
     FROM changes INDEXED BY changes_placed
       CROSS JOIN orders ON orders.id = changes.order_id
       CROSS JOIN json_each(changes.changes) AS change
     WHERE instr(changes.changes, '"state":"placed"') > 0
       AND change.value ->> 'field' = 'placement' AND change.value ->> '$.to.state' = 'placed'
       AND change.value ->> '$.to.orderSourceId' NOT IN (SELECT value FROM json_each(@excluded))`,
  )
  return {
    findById: (orderSourceId: string) => withId.all(orderSourceId, MAX_WITH_SAME_ID),
    /**
     * Orders with a current or former ID that is not excluded; an order can be returned more than
     * once.
     */
    iterateOthers: (excluded: string[]) =>
      withOtherId.iterate({ excluded: JSON.stringify(excluded) }),
  }
}
