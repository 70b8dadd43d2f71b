import type { Formatters } from '../core/formatting/portal-formatters.js'
import { MINUTE_MS } from '../core/time.js'
import type { Queryable } from '../database/database.js'
import {
  COLUMNS,
  inStates,
  MESSAGE_STATES,
  toMessage,
  type Attempt,
  type Message,
  type MessageRow,
  type MessageState,
} from './messages.js'

/** A page of the messages in a queue. */
export interface Slice {
  limit: number
  offset: number
  /** All by default */
  states?: readonly MessageState[]
  /** Failed attempts since it was last queued */
  minFailures?: number
}

/** Lists the messages in a queue, newest first. */
export async function listMessages(
  tx: Queryable,
  queue: string,
  { limit, offset, states = MESSAGE_STATES, minFailures = 0 }: Slice,
): Promise<Message[]> {
  const rows = await tx.query<MessageRow>(
    `SELECT ${COLUMNS} FROM outbox WHERE queue = ? AND ${inStates(states)} AND failures >= ?
     ORDER BY position DESC LIMIT ? OFFSET ?`,
    [queue, ...states, minFailures, limit, offset],
  )
  return rows.map(toMessage)
}

/** Lists the messages about an order in a queue, newest first. */
export async function listOrderMessages(
  tx: Queryable,
  queue: string,
  orderId: string,
): Promise<Message[]> {
  const rows = await tx.query<MessageRow>(
    `SELECT ${COLUMNS} FROM outbox WHERE order_id = ? AND queue = ? ORDER BY position DESC`,
    [orderId, queue],
  )
  return rows.map(toMessage)
}

/** Counts the messages in a queue. */
export async function countMessages(
  tx: Queryable,
  queue: string,
  { states = MESSAGE_STATES, minFailures = 0 }: Pick<Slice, 'states' | 'minFailures'> = {},
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM outbox
     WHERE queue = ? AND ${inStates(states)} AND failures >= ?`,
    [queue, ...states, minFailures],
  )
  return row?.count ?? 0
}

/** Counts the pending messages in a queue, up to a limit. */
export async function countPending(tx: Queryable, queue: string, limit: number): Promise<number> {
  const rows = await tx.query(
    "SELECT 1 FROM outbox WHERE queue = ? AND state = 'pending' LIMIT ?",
    [queue, limit],
  )
  return rows.length
}

/** Counts the messages in a queue that have failed since a time, in ms since 1970. */
export async function countFailedMessages(
  tx: Queryable,
  queue: string,
  since: number,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM outbox
     WHERE queue = ? AND state = 'failed' AND finished_at >= ?`,
    [queue, since],
  )
  return row?.count ?? 0
}

/** Returns a message; `null` if it does not exist. */
export async function getMessage(tx: Queryable, id: string): Promise<Message | null> {
  const [row] = await tx.query<MessageRow>(`SELECT ${COLUMNS} FROM outbox WHERE id = ?`, [id])
  return row === undefined ? null : toMessage(row)
}

/** Lists the attempts to send a message, oldest first. */
export async function listAttempts(tx: Queryable, messageId: string): Promise<Attempt[]> {
  return tx.query<Attempt>(
    `SELECT number, at, duration_ms AS "durationMs", status, detail FROM outbox_attempts
     WHERE message_id = ? ORDER BY number`,
    [messageId],
  )
}

/** A message with the attempts to send it, oldest first. */
export interface Delivery {
  message: Message
  attempts: Attempt[]
}

/** Reads the attempts to send messages. */
export async function readDeliveries(
  tx: Queryable,
  messages: readonly Message[],
): Promise<Delivery[]> {
  const deliveries = []
  for (const message of messages) {
    deliveries.push({ message, attempts: await listAttempts(tx, message.id) })
  }
  return deliveries
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

/** Converts ms since 1970 for a `time` element. */
export function toTime(ms: number, format: Formatters) {
  const iso = new Date(ms).toISOString()
  return { iso, text: format.dateTime(iso) }
}

/** Whether a page should poll the log: a message is about to be sent. */
export const isLive = (deliveries: readonly Delivery[]): boolean =>
  deliveries.some(
    ({ message: { state, nextAttemptAt } }) =>
      state === 'pending' && nextAttemptAt < Date.now() + MINUTE_MS,
  )

/** Explains why there are no attempts. */
function getNote({ state }: Delivery['message'], isHeld: boolean): string {
  if (state === 'cancelled') return 'Not sent, because a later message replaced it.'
  return isHeld ? 'Not sent yet. If it no longer applies by then, it is not sent.' : 'Not sent yet.'
}

/** Builds the log entry of an outbox message: its state, and the attempts to send it. */
export function buildMessageView(
  { message, attempts }: Delivery,
  labels: Record<MessageState, string>,
  format: Formatters,
) {
  const { id, state, createdAt, nextAttemptAt } = message
  const isHeld = state === 'pending' && attempts.length === 0 && nextAttemptAt > createdAt
  const until = format.timeWithSeconds(new Date(nextAttemptAt).toISOString())
  return {
    id,
    state: { className: state, label: isHeld ? `${labels[state]} until ${until}` : labels[state] },
    note: getNote(message, isHeld),
    isPending: state === 'pending',
    createdAt: toTime(createdAt, format),
    // Not shown before the first attempt, because that attempt is made immediately.
    nextAttemptAt:
      state === 'pending' && attempts.length > 0 ? toTime(nextAttemptAt, format) : null,
    attempts: attempts.map(({ number, at, durationMs, status, detail }) => ({
      number,
      at: toTime(at, format),
      duration: `${format.count(durationMs)} ms`,
      status: status === null ? 'No response' : String(status),
      detail,
    })),
  }
}
