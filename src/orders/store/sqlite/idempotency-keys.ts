import type { Database } from 'better-sqlite3'
import { IDEMPOTENCY_KEY_TTL_MS } from '../../idempotency-hashes.js'

export interface IdempotencyKey {
  /** Hash of the order that was sent with the key */
  request: string
  order_id: number
}

/** Stores idempotency keys, within the caller's transaction. */
export function createIdempotencyKeys(db: Database) {
  const select = db.prepare<[string], IdempotencyKey>(
    'SELECT request, order_id FROM idempotency_keys WHERE key = ?',
  )
  const insert = db.prepare<[string, string, number, number]>(
    'INSERT INTO idempotency_keys VALUES (?, ?, ?, ?)',
  )
  const removeBefore = db.prepare<[number]>('DELETE FROM idempotency_keys WHERE at < ?')

  return {
    find: (key: string): IdempotencyKey | undefined => select.get(key),
    /** @param at ms since 1970 */
    add: (key: string, { request, order_id }: IdempotencyKey, at: number): void =>
      void insert.run(key, request, order_id, at),
    /** @param now ms since 1970 */
    removeExpired: (now: number): void => void removeBefore.run(now - IDEMPOTENCY_KEY_TTL_MS),
  }
}
