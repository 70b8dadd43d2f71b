import type { Queryable } from '../database/database.js'
import type { OrderStore } from './store/order-store.js'
import type { Order } from './order.js'
import { getMessage, listAttempts, type Message, type MessageState } from '../events/outbox.js'

/** The payload of a message about a version of an order. */
interface VersionPayload {
  /** Missing in older messages */
  version?: number
}

export const toVersionPayload = ({ version }: Pick<Order, 'version'>): VersionPayload => ({
  version,
})

/**
 * Returns the order that a message is about; `null` if it does not exist. The order is never older
 * than the version for which the message was queued, even if another process queued the message.
 */
export async function getMessageOrder(
  store: Pick<OrderStore, 'get'>,
  { orderId, payload }: Pick<Message, 'orderId' | 'payload'>,
): Promise<Order | null> {
  const { version = 1 } = payload as VersionPayload
  return orderId === null ? null : store.get(orderId, version)
}

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
