import type { Queryable } from '../../database/database.js'
import { changedEmail, isCustomer } from '../erasure.js'
import type { FieldChange } from '../order.js'
import { toMailbox } from '../../core/validation/email-address.js'
import type { MailboxOrders } from './order-store.js'

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
