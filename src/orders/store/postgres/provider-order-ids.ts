import type { Queryable } from '../../../database/database.js'
import type { ProviderOrderRef } from '../order-store.js'

/** More orders than any page shows. */
const MAX_WITH_SAME_ID = 10

const COLUMNS = 'orders.id AS id, order_number AS "orderNumber"'

/** Finds orders by their ID at the provider. */
export const findByProviderId = (tx: Queryable, orderSourceId: string) =>
  tx.query<ProviderOrderRef>(
    `SELECT ${COLUMNS}, order_source_id AS "orderSourceId" FROM orders
     WHERE order_source_id = ? ORDER BY id LIMIT ${MAX_WITH_SAME_ID}`,
    [orderSourceId],
  )

/**
 * Finds orders that have or had a provider ID that is not in `excluded`; an order can be returned
 * more than once.
 */
export const findOthers = (tx: Queryable, excluded: readonly string[], limit: number) =>
  tx.query<ProviderOrderRef>(
    `SELECT ${COLUMNS}, order_source_id AS "orderSourceId" FROM orders
     WHERE order_source_id IS NOT NULL AND order_source_id <> ALL(?::text[])
     UNION ALL
     SELECT ${COLUMNS}, change -> 'to' ->> 'orderSourceId'
     FROM changes JOIN orders ON orders.id = changes.order_id
       CROSS JOIN jsonb_array_elements(changes.changes::jsonb) AS change
     WHERE position('"state":"placed"' IN changes.changes) > 0
       AND change ->> 'field' = 'placement' AND change -> 'to' ->> 'state' = 'placed'
       AND change -> 'to' ->> 'orderSourceId' <> ALL(?::text[])
     LIMIT ?`,
    [excluded, excluded, limit],
  )
