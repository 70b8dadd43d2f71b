import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Queryable } from '../database/database.js'

/** Replaces responses that may contain personal data. */
const ERASED_DETAIL = 'Erased'

/**
 * - `pending`: waiting to be sent or retried
 * - `sent`
 * - `failed`: all attempts failed, or the receiver rejected it permanently
 * - `cancelled`: not to be sent, for example because its receiver was removed
 *
 * The states are stored, so never rename a state.
 */
export const MESSAGE_STATES = ['pending', 'sent', 'failed', 'cancelled'] as const
export type MessageState = (typeof MESSAGE_STATES)[number]

/** The states of messages that should have been sent. */
export const UNSENT_STATES = ['pending', 'failed'] as const satisfies readonly MessageState[]

/**
 * The ID of a message, always the same for the same occasion, so that processing an event twice adds
 * one message.
 *
 * @param occasion what tells the message from all others with this prefix. With NocoDB, consecutive
 *   edits of an order can have the same version, so its `updatedAt` is part of it.
 */
export const getMessageId = (prefix: string, ...occasion: readonly (string | number)[]): string =>
  `${prefix}_${createHash('sha256').update(JSON.stringify(occasion)).digest('hex').slice(0, 32)}`

export interface NewMessage {
  /** A message whose ID already exists is not added again */
  id: string
  /** Such as `mail`; each queue has its own concurrency */
  queue: string
  /** Messages with the same sequence are sent one after the other */
  sequence: string
  /** Such as `order.paid` */
  type: string
  orderId: string | null
  /** Any JSON */
  payload: unknown
}

export interface Message extends NewMessage {
  state: MessageState
  /** Attempts so far */
  attempts: number
  /** Failed attempts since it was last queued */
  failures: number
  /** ms since 1970 */
  createdAt: number
  /** ms since 1970 */
  nextAttemptAt: number
  /** When it was sent, failed or was cancelled, ms since 1970 */
  finishedAt: number | null
}

/** An attempt to send a message. */
export interface Attempt {
  number: number
  /** ms since 1970 */
  at: number
  durationMs: number
  /** Status of the HTTP or SMTP response, if there was one */
  status: number | null
  /** The beginning of the response, or the error */
  detail: string
}

export const COLUMNS = `id, queue, sequence, type, order_id AS "orderId", payload, state, attempts, failures,
  created_at AS "createdAt", next_attempt_at AS "nextAttemptAt", finished_at AS "finishedAt"`

export type MessageRow = Omit<Message, 'payload'> & { payload: string }

export const toMessage = (row: MessageRow): Message => ({
  ...row,
  payload: JSON.parse(row.payload) as unknown,
})

export const inStates = (states: readonly MessageState[]): string =>
  `state IN (${states.map(() => '?').join(', ')})`

/**
 * Adds a message, in the caller's transaction; does nothing if its ID already exists. Returns
 * whether the message was added.
 *
 * @param sendAt when to send it, in ms since 1970; by default as soon as possible
 */
export async function enqueueMessage(
  tx: Queryable,
  message: NewMessage,
  sendAt?: number,
): Promise<boolean> {
  const { id, queue, sequence, type, orderId, payload } = message
  const now = Date.now()
  const added = await tx.query(
    `INSERT INTO outbox (id, queue, sequence, type, order_id, payload, state, attempts, failures,
       created_at, next_attempt_at, claimed_until)
     VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?, ?, 0) ON CONFLICT (id) DO NOTHING
     RETURNING id`,
    [id, queue, sequence, type, orderId, JSON.stringify(payload), now, sendAt ?? now],
  )
  return added.length > 0
}

const REQUEUE = "state = 'pending', failures = 0, next_attempt_at = ?, finished_at = NULL"

/**
 * Sends a message as soon as possible, even if it was already sent, failed or was cancelled.
 *
 * @param payload replaces the stored payload
 */
export async function requeueMessage(tx: Queryable, id: string, payload?: unknown): Promise<void> {
  const now = Date.now()
  const json = payload === undefined ? null : JSON.stringify(payload)
  // A message that is being sent is already pending.
  await tx.query(
    `UPDATE outbox SET ${REQUEUE}, payload = coalesce(?, payload)
     WHERE id = ? AND claimed_until <= ?`,
    [now, json, id, now],
  )
}

/** Sends a message after all if it was cancelled; returns whether it was. */
export async function resumeMessage(tx: Queryable, id: string, sendAt?: number): Promise<boolean> {
  const resumed = await tx.query(
    `UPDATE outbox SET ${REQUEUE} WHERE id = ? AND state = 'cancelled' RETURNING id`,
    [sendAt ?? Date.now(), id],
  )
  return resumed.length > 0
}

/** Requeues the finished messages of a queue; returns how many there were. */
export async function requeueMessages(
  tx: Queryable,
  queue: string,
  { since, states }: { since: number; states: readonly MessageState[] },
): Promise<number> {
  const rows = await tx.query(
    `UPDATE outbox SET ${REQUEUE}
     WHERE queue = ? AND created_at >= ? AND ${inStates(states)} RETURNING id`,
    [Date.now(), queue, since, ...states],
  )
  return rows.length
}

/** Cancels the pending messages in a queue. */
export async function cancelMessages(tx: Queryable, queue: string): Promise<void> {
  await tx.query(
    "UPDATE outbox SET state = 'cancelled', finished_at = ? WHERE queue = ? AND state = 'pending'",
    [Date.now(), queue],
  )
}

/**
 * Cancels the other pending messages of these types about the same order, unless they are being
 * sent.
 */
export async function cancelOtherMessages(
  tx: Queryable,
  { id, queue, orderId }: Pick<Message, 'id' | 'queue' | 'orderId'>,
  types: readonly string[],
): Promise<void> {
  const now = Date.now()
  await tx.query(
    `UPDATE outbox SET state = 'cancelled', finished_at = ?
     WHERE order_id = ? AND queue = ? AND state = 'pending' AND id <> ? AND claimed_until <= ?
       AND type IN (${types.map(() => '?').join(', ')})`,
    [now, orderId, queue, id, now, ...types],
  )
}

/**
 * Erases personal data from the messages about an order and the responses to them.
 *
 * @param isCancelled whether to cancel the messages that have not been sent yet
 * @param erase returns the payload without personal data, or `null` to leave a message as it is
 */
export async function eraseMessages(
  tx: Queryable,
  {
    orderId,
    queuePrefix,
    isCancelled,
  }: { orderId: string; queuePrefix: string; isCancelled: boolean },
  erase: (payload: unknown) => unknown,
): Promise<void> {
  const sql = 'SELECT id, queue, payload FROM outbox WHERE order_id = ?'
  const rows = await tx.query<Pick<MessageRow, 'id' | 'queue' | 'payload'>>(sql, [orderId])
  for (const { id, payload } of rows.filter(({ queue }) => queue.startsWith(queuePrefix))) {
    const erased = erase(JSON.parse(payload))
    if (erased === null) continue
    await tx.query('UPDATE outbox SET payload = ? WHERE id = ?', [JSON.stringify(erased), id])
    await tx.query('UPDATE outbox_attempts SET detail = ? WHERE message_id = ?', [
      ERASED_DETAIL,
      id,
    ])
    if (isCancelled) {
      await tx.query(
        "UPDATE outbox SET state = 'cancelled', finished_at = ? WHERE id = ? AND state = 'pending'",
        [Date.now(), id],
      )
    }
  }
}

/**
 * Returns the queues that have messages to send now. A loose index scan: it skips from queue to
 * queue without reading all their messages.
 */
export async function listDueQueues(tx: Queryable, now: number): Promise<string[]> {
  const rows = await tx.query<{ queue: string }>(
    `WITH RECURSIVE queues (queue) AS (
       SELECT min(queue) FROM outbox WHERE state = 'pending'
       UNION ALL
       SELECT (SELECT min(queue) FROM outbox WHERE state = 'pending' AND queue > queues.queue)
       FROM queues WHERE queue IS NOT NULL
     )
     SELECT queue FROM queues WHERE queue IS NOT NULL AND EXISTS (
       SELECT 1 FROM outbox WHERE state = 'pending' AND outbox.queue = queues.queue
         AND next_attempt_at <= ? AND claimed_until <= ?
     )`,
    [now, now],
  )
  return rows.map(({ queue }) => queue)
}

/**
 * Claims messages that are due, so that no other process sends them for `leaseMs`; those about
 * orders first. A message waits until the earlier messages in its sequence are sent or have failed.
 */
export async function claimMessages(
  tx: Queryable,
  { queue, limit, leaseMs }: { queue: string; limit: number; leaseMs: number },
): Promise<Message[]> {
  const now = Date.now()
  const rows = await tx.query<MessageRow>(
    `UPDATE outbox SET claimed_until = ?
     WHERE claimed_until <= ? AND position IN (
       SELECT position FROM outbox AS due
       WHERE queue = ? AND state = 'pending' AND next_attempt_at <= ? AND claimed_until <= ?
         AND NOT EXISTS (
           SELECT 1 FROM outbox AS earlier
           WHERE earlier.sequence = due.sequence AND earlier.state = 'pending'
             AND earlier.position < due.position
         )
       ORDER BY order_id IS NULL, next_attempt_at LIMIT ?
     ) RETURNING ${COLUMNS}`,
    [now + leaseMs, now, queue, now, now, limit],
  )
  return rows.map(toMessage)
}

/**
 * Records an attempt, and the new state of the message. If personal data was erased from the message
 * while it was being sent, the response is not stored.
 */
export async function recordAttempt(
  tx: Queryable,
  { id, attempts, payload }: Pick<Message, 'id' | 'attempts' | 'payload'>,
  attempt: Omit<Attempt, 'number'>,
  next: { state: MessageState; failures: number; nextAttemptAt: number },
): Promise<void> {
  const { at, durationMs, status, detail } = attempt
  // A message that was cancelled while it was being sent stays cancelled, unless it was delivered.
  await tx.query(
    `UPDATE outbox SET state = ?, attempts = attempts + 1, failures = ?, next_attempt_at = ?,
       claimed_until = 0, finished_at = ?
     WHERE id = ? AND (state = 'pending' OR ? = 'sent')`,
    [
      next.state,
      next.failures,
      next.nextAttemptAt,
      next.state === 'pending' ? null : Date.now(),
      id,
      next.state,
    ],
  )
  // After the update, which waits for an erasure that is in progress.
  const [stored] = await tx.query<Pick<MessageRow, 'payload'>>(
    'SELECT payload FROM outbox WHERE id = ?',
    [id],
  )
  const isErased = stored !== undefined && !isDeepStrictEqual(JSON.parse(stored.payload), payload)
  await tx.query('INSERT INTO outbox_attempts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING', [
    id,
    attempts + 1,
    at,
    durationMs,
    status,
    isErased ? ERASED_DETAIL : detail,
  ])
}

/** Deletes messages that finished before a time, with their attempts. */
export async function deleteFinishedMessages(tx: Queryable, before: number): Promise<void> {
  await tx.query(
    `DELETE FROM outbox_attempts WHERE message_id IN (SELECT id FROM outbox WHERE finished_at < ?)`,
    [before],
  )
  await tx.query('DELETE FROM outbox WHERE finished_at < ?', [before])
}
