import { changedEmail } from '../../orders/erasure.js'
import type { FieldChange } from '../../orders/order.js'

/** Reads all changes of emails. No index: it is needed only when personal data is erased. */
export const SELECT_EMAIL_CHANGES =
  'SELECT order_id, changes FROM changes WHERE changes LIKE \'%"field":"customerEmail"%\''

export interface EmailChangeRow {
  order_id: number
  changes: string
}

/** Returns the IDs of the orders whose email was changed from or to this one. */
export function listOrdersWithChange(rows: readonly EmailChangeRow[], email: string): string[] {
  const found = rows.filter(({ changes }) =>
    changedEmail(email, JSON.parse(changes) as FieldChange[]),
  )
  return [...new Set(found.map(({ order_id }) => String(order_id)))]
}
