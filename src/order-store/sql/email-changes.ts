import { changedEmail } from '../../orders/erasure.js'
import type { FieldChange } from '../../orders/order.js'

/**
 * Reads all changes of email addresses. There is no index for this query, because it runs only when
 * personal data is erased.
 */
export const SELECT_EMAIL_CHANGES =
  'SELECT order_id, changes FROM changes WHERE changes LIKE \'%"field":"customerEmail"%\''

export interface EmailChangeRow {
  order_id: number
  changes: string
}

/** Returns the IDs of the orders whose email address was changed from or to `email`. */
export function listOrdersWithChange(rows: readonly EmailChangeRow[], email: string): string[] {
  const found = rows.filter(({ changes }) =>
    changedEmail(email, JSON.parse(changes) as FieldChange[]),
  )
  return [...new Set(found.map(({ order_id }) => String(order_id)))]
}
