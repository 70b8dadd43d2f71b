import type { Database } from 'better-sqlite3'

/** An order of ours, and an id that it has, or had, at the order source. */
export interface ProviderOrderRef {
  /** Id of our order */
  id: number
  orderNumber: string
  orderSourceId: string
}

/** More than are ever told of one by one. */
const MOST_WITH_ONE_ID = 10

const COLUMNS = 'orders.id AS id, order_number AS orderNumber'

/** Reads what orders are known to be at the order source, by their ids there. */
export function createProviderOrderLookup(db: Database) {
  const withId = db.prepare<[string, number], ProviderOrderRef>(
    `SELECT ${COLUMNS}, order_source_id AS orderSourceId
     FROM orders INDEXED BY orders_by_source_id
     WHERE order_source_id IS NOT NULL AND order_source_id = ? ORDER BY id LIMIT ?`,
  )
  const besides = db.prepare<[{ ids: string }], ProviderOrderRef>(
    `SELECT ${COLUMNS}, order_source_id AS orderSourceId
     FROM orders INDEXED BY orders_by_source_id
     WHERE order_source_id IS NOT NULL
       AND order_source_id NOT IN (SELECT value FROM json_each(@ids))
     UNION ALL
     SELECT ${COLUMNS}, change.value ->> '$.to.orderSourceId'
     FROM changes INDEXED BY changes_placed
       CROSS JOIN orders ON orders.id = changes.order_id
       CROSS JOIN json_each(changes.changes) AS change
     WHERE instr(changes.changes, '"state":"placed"') > 0
       AND change.value ->> 'field' = 'placement' AND change.value ->> '$.to.state' = 'placed'
       AND change.value ->> '$.to.orderSourceId' NOT IN (SELECT value FROM json_each(@ids))`,
  )
  return {
    /** The orders that have an id at the order source: one, or somebody has mixed them up. */
    withId: (orderSourceId: string) => withId.all(orderSourceId, MOST_WITH_ONE_ID),
    /** Orders that have, or were placed under, an id that is not among some; some come up twice. */
    besides: (ids: string[]) => besides.iterate({ ids: JSON.stringify(ids) }),
  }
}
