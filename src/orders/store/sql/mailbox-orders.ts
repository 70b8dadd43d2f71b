import { changedEmail, isCustomer } from '../../erasure.js'
import type { FieldChange } from '../../order.js'
import { toMailbox } from '../../../core/validation/email-address.js'
import type { MailboxOrders } from '../order-store.js'

/*
 * There are no indexes for these queries, because they run only when personal data is erased.
 */

/** Reads the emails that may be spellings of a mailbox: see `toMailbox`, which is the parameter. */
export const SELECT_EMAILS = `SELECT id, customer_email FROM orders
  WHERE lower(customer_email) = ? OR customer_email LIKE '%@%xn--%'
    OR customer_email LIKE '%@%XN--%' OR octet_length(customer_email) > length(customer_email)`

export interface EmailRow {
  id: number
  customer_email: string
}

/** Reads all changes of email addresses. */
export const SELECT_EMAIL_CHANGES =
  'SELECT order_id, changes FROM changes WHERE changes LIKE \'%"field":"customerEmail"%\''

export interface EmailChangeRow {
  order_id: number
  changes: string
}

/** Returns the orders that have or had a spelling of `email`, the newest first. */
export async function findMailboxOrders(
  email: string,
  readEmails: (mailbox: string) => Promise<EmailRow[]>,
  readChanges: () => Promise<EmailChangeRow[]>,
): Promise<MailboxOrders> {
  const emails = await readEmails(toMailbox(email))
  const current = new Set(
    emails.filter((row) => isCustomer(email, row.customer_email)).map(({ id }) => id),
  )
  const changes = await readChanges()
  const former = new Set(
    changes
      .filter((row) => !current.has(row.order_id))
      .filter((row) => changedEmail(email, JSON.parse(row.changes) as FieldChange[]))
      .map((row) => row.order_id),
  )
  const toIds = (ids: Set<number>) => [...ids].sort((a, b) => b - a).map(String)
  return { current: toIds(current), former: toIds(former) }
}
