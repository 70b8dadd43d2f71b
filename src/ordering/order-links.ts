import { createHash } from 'node:crypto'
import type { Signer } from '../config/signer.js'
import type { Database } from '../database/database.js'
import type { Order } from '../orders/order.js'

/** Purpose of the key that signs tokens. */
export const ORDER_LINK_PURPOSE = 'order link v1'

const TOKEN = /^[\w-]{22}$/

/** Private links of guests to their orders. Whoever has the token may see the order. */
export interface OrderLinks {
  /** Returns the token of an order's link, the same each time, and makes it valid. */
  create(order: Pick<Order, 'id' | 'createdAt'>): Promise<string>
  /** Returns the ID of the order that a token opens; `null` if there is none. */
  find(token: string): Promise<string | null>
}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')

/**
 * Stores the hashes of tokens only. A token is 128 bits of an HMAC, so that it cannot be guessed and
 * need not be stored: a repeated request or an email contains the same link. The time of creation
 * is part of it because a restored database gives the IDs of lost orders to others.
 */
export function createOrderLinks(database: Database, signer: Signer): OrderLinks {
  return {
    async create({ id, createdAt }) {
      const token = signer.sign(`${id}\n${createdAt}`)
      await database.query('INSERT INTO order_links VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [
        hashToken(token),
        id,
        Date.now(),
      ])
      return token
    },
    async find(token) {
      if (!TOKEN.test(token)) return null
      const [link] = await database.query<{ order_id: string }>(
        'SELECT order_id FROM order_links WHERE token_hash = ?',
        [hashToken(token)],
      )
      return link?.order_id ?? null
    },
  }
}
