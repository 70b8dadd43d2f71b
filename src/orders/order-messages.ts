import type { Queryable } from '../database/database.js'
import type { Message, MessageState } from '../outbox/messages.js'
import { getMessage, listAttempts } from '../outbox/read-messages.js'
import type { Order } from './order.js'
import type { OrderStore } from './store/order-store.js'

/** Returns the order that a message is about; `null` if it does not exist. */
export const getMessageOrder = async (
  store: Pick<OrderStore, 'get'>,
  { orderId }: Pick<Message, 'orderId'>,
): Promise<Order | null> => (orderId === null ? null : store.get(orderId))

/** The state of an order's message in a queue. */
export interface OrderMessage {
  id: string
  state: MessageState
  /** Result of the last attempt; `null` before the first one */
  detail: string | null
  /** ms since 1970 */
  nextAttemptAt: number
}

/** Returns the newest message about an order in a queue; `null` if there is none. */
export async function findOrderMessage(
  tx: Queryable,
  orderId: string,
  queue: string,
): Promise<OrderMessage | null> {
  const [row] = await tx.query<{ id: string }>(
    'SELECT id FROM outbox WHERE order_id = ? AND queue = ? ORDER BY position DESC LIMIT 1',
    [orderId, queue],
  )
  const message = row === undefined ? null : await getMessage(tx, row.id)
  if (message === null) return null
  const { id, state, nextAttemptAt } = message
  const detail = (await listAttempts(tx, id)).at(-1)?.detail ?? null
  return { id, state, detail, nextAttemptAt }
}
