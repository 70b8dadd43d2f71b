import { toMailbox } from '../../core/validation/email-address.js'
import type { Queryable } from '../../database/database.js'
import { isReset } from '../attempt.js'
import { changedEmail, isCustomer } from '../erase-order.js'
import type { FieldChange } from '../order.js'
import type { Dialect } from './dialect.js'
import { readHistory, readOrder } from './order-records.js'
import type { MailboxOrders, ProviderOrderRef } from './order-store.js'

/** More orders than any page shows. */
const MAX_WITH_SAME_ID = 10

/**
 * Number of provider order IDs to read per result. Some IDs do not count, because they belong to
 * attempts that were reset.
 */
const CANDIDATES_PER_RESULT = 20

/** Finds orders by their ID at the provider. */
export const findByProviderId = (
  tx: Queryable,
  { indexedBy }: Dialect,
  orderSourceId: string,
): Promise<ProviderOrderRef[]> =>
  tx.query<ProviderOrderRef>(
    `SELECT id, order_number AS "orderNumber", order_source_id AS "orderSourceId"
     FROM orders ${indexedBy('orders_by_source_id')}
     WHERE order_source_id IS NOT NULL AND order_source_id = ?
     ORDER BY id LIMIT ${MAX_WITH_SAME_ID}`,
    [orderSourceId],
  )

/** Lists the currencies of all orders, with one step in their index for each currency. */
export async function listCurrencies(tx: Queryable): Promise<string[]> {
  const rows = await tx.query<{ currency: string }>(
    `WITH RECURSIVE used (currency) AS (
       SELECT min(currency) FROM orders
       UNION ALL
       SELECT (SELECT min(currency) FROM orders WHERE currency > used.currency)
       FROM used WHERE used.currency IS NOT NULL
     )
     SELECT currency FROM used WHERE currency IS NOT NULL ORDER BY currency`,
  )
  return rows.map(({ currency }) => currency)
}

/** Current IDs, and IDs of placed orders in the history; an order can be returned more than once. */
function findCandidates(
  tx: Queryable,
  dialect: Dialect,
  excluded: readonly string[],
  limit: number,
): Promise<ProviderOrderRef[]> {
  const isOther = dialect.isNoneOf('order_source_id', excluded)
  const wasOther = dialect.isNoneOf('source_id', excluded)
  return tx.query<ProviderOrderRef>(
    `WITH placements AS MATERIALIZED (${dialect.placements})
     SELECT id, order_number AS "orderNumber", order_source_id AS "orderSourceId"
     FROM orders ${dialect.indexedBy('orders_by_source_id')}
     WHERE order_source_id IS NOT NULL AND ${isOther.sql}
     UNION ALL
     SELECT id, order_number, source_id FROM placements JOIN orders ON id = order_id
     WHERE ${wasOther.sql}
     LIMIT ?`,
    [...isOther.values, ...wasOther.values, limit],
  )
}

/** See `OrderStore`. */
export async function findOtherProviderOrders(
  tx: Queryable,
  dialect: Dialect,
  excluded: readonly string[],
  limit: number,
): Promise<ProviderOrderRef[]> {
  const found = new Map<string, ProviderOrderRef>()
  for (const ref of await findCandidates(tx, dialect, excluded, limit * CANDIDATES_PER_RESULT)) {
    const { id, orderSourceId } = ref
    const isCurrent = (await readOrder(tx, id))?.orderSourceId === orderSourceId
    if (isCurrent || !isReset((await readHistory(tx, id)) ?? [], orderSourceId)) {
      found.set(`${id} ${orderSourceId}`, ref)
    }
    if (found.size === limit) break
  }
  return [...found.values()].sort(
    (a, b) => b.id - a.id || (a.orderSourceId < b.orderSourceId ? -1 : 1),
  )
}

/** May be spellings of a mailbox: see `toMailbox`, which is the parameter. */
const SELECT_EMAILS = `SELECT id, customer_email FROM orders
  WHERE lower(customer_email) = ? OR customer_email LIKE '%@%xn--%'
    OR customer_email LIKE '%@%XN--%' OR octet_length(customer_email) > length(customer_email)`

const SELECT_EMAIL_CHANGES =
  'SELECT order_id, changes FROM changes WHERE changes LIKE \'%"field":"customerEmail"%\''

/**
 * Returns the orders that have or had a spelling of `email`, the newest first. Reads all orders,
 * because it runs only when personal data is erased.
 */
export async function findMailboxOrders(tx: Queryable, email: string): Promise<MailboxOrders> {
  const emails = await tx.query<{ id: number; customer_email: string }>(SELECT_EMAILS, [
    toMailbox(email),
  ])
  const current = new Set(
    emails.filter((row) => isCustomer(email, row.customer_email)).map(({ id }) => id),
  )
  const changes = await tx.query<{ order_id: number; changes: string }>(SELECT_EMAIL_CHANGES)
  const former = new Set(
    changes
      .filter((row) => !current.has(row.order_id))
      .filter((row) => changedEmail(email, JSON.parse(row.changes) as FieldChange[]))
      .map((row) => row.order_id),
  )
  const toIds = (ids: Set<number>) => [...ids].sort((a, b) => b - a).map(String)
  return { current: toIds(current), former: toIds(former) }
}
