import type { Queryable } from '../../database/database.js'
import { createFirstVersion } from '../change-order.js'
import { hashOrder, IDEMPOTENCY_KEY_TTL_MS } from '../idempotency-hashes.js'
import { formatOrderNumber } from '../order-id.js'
import type { NewOrder, Order } from '../order.js'
import type { Dialect } from './dialect.js'
import { addEvent } from './event-records.js'
import { addMany, readOrder } from './order-records.js'
import type { CreateResult } from './order-store.js'
import { addTotals, type TotalsSum } from './totals.js'

/** A concurrent transaction may have changed the same data first. The caller retries. */
export class WriteConflictError extends Error {}

async function selectValue(tx: Queryable, sql: string): Promise<number> {
  const [row] = await tx.query<{ value: number }>(sql)
  if (row === undefined) throw new Error('The database returned no number')
  return row.value
}

/** Takes the next order number that no imported order has. */
async function takeOrderNumber(tx: Queryable, dialect: Dialect): Promise<string> {
  let orderNumber: string
  let taken: unknown[]
  do {
    orderNumber = formatOrderNumber(await selectValue(tx, dialect.nextNumber))
    taken = await tx.query('SELECT 1 FROM orders WHERE order_number = ?', [orderNumber])
  } while (taken.length > 0)
  return orderNumber
}

/**
 * Stores an idempotency key and returns `null`. If the key already exists, returns the result of the
 * earlier request instead.
 */
async function takeKey(
  tx: Queryable,
  key: string,
  request: string,
  now: number,
): Promise<CreateResult | null> {
  // Waits for a concurrent request with the same key. The ID of the order is set later.
  const taken = await tx.query(
    'INSERT INTO idempotency_keys VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING RETURNING key',
    [key, request, now],
  )
  if (taken.length > 0) return null
  const [known] = await tx.query<{ request: string; order_id: number }>(
    'SELECT request, order_id FROM idempotency_keys WHERE key = ?',
    [key],
  )
  // The key expired and was deleted between the two queries.
  if (known === undefined) throw new WriteConflictError()
  if (known.request !== request) return { outcome: 'idempotency_key_reused' }
  const order = await readOrder(tx, known.order_id)
  if (order === null) {
    throw new Error(`The order of an idempotency key is missing: ${known.order_id}`)
  }
  return { outcome: 'replayed', order }
}

/**
 * Creates an order with its event, in the caller's transaction. Throws WriteConflictError.
 *
 * @param key hash of the idempotency key; `null` without one
 */
export async function createOrder(
  tx: Queryable,
  dialect: Dialect,
  { newOrder, by, key }: { newOrder: NewOrder; by: string; key: string | null },
  totals: TotalsSum,
): Promise<CreateResult> {
  const now = Date.now()
  await tx.query('DELETE FROM idempotency_keys WHERE at < ?', [now - IDEMPOTENCY_KEY_TTL_MS])
  const known = key === null ? null : await takeKey(tx, key, hashOrder(newOrder), now)
  if (known !== null) return known
  const id = await selectValue(tx, dialect.nextId)
  const order: Order = {
    id: String(id),
    orderNumber: await takeOrderNumber(tx, dialect),
    ...createFirstVersion(newOrder, new Date(now).toISOString()),
  }
  await addMany(tx, dialect, [{ order, by, history: [] }], totals)
  await addEvent(tx, null, order)
  if (key !== null) {
    await tx.query('UPDATE idempotency_keys SET order_id = ? WHERE key = ?', [id, key])
  }
  await addTotals(tx, totals)
  return { outcome: 'created', order }
}
