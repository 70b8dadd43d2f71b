import { createHash } from 'node:crypto'
import type { Signer } from '../core/config/signer.js'
import type { Database } from '../database/database.js'
import type { Order } from '../orders/order.js'

const TOKEN = /^[\w-]{22}$/

const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')

/**
 * Private links of guests to their orders. Whoever has the token may see the order, and may pay for
 * it or cancel it while it is pending.
 *
 * Stores only the hashes of tokens. A token is 128 bits of an HMAC: it cannot be guessed, and can
 * be computed again, so repeated requests and emails contain the same link. The HMAC covers the
 * time of creation because a database restored from a backup reuses the IDs of lost orders.
 */
export function createOrderLinks(database: Database, signer: Signer) {
  return {
    /** Makes the link of an order valid and returns its token. Every call returns the same token. */
    async create({ id, createdAt }: Pick<Order, 'id' | 'createdAt'>): Promise<string> {
      const token = signer.sign(`${id}\n${createdAt}`)
      await database.query('INSERT INTO order_links VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [
        hashToken(token),
        id,
        Date.now(),
      ])
      return token
    },
    /** Returns the ID of the order that a token opens; `null` if there is none. */
    async find(token: string): Promise<string | null> {
      if (!TOKEN.test(token)) return null
      const [link] = await database.query<{ order_id: string }>(
        'SELECT order_id FROM order_links WHERE token_hash = ?',
        [hashToken(token)],
      )
      return link?.order_id ?? null
    },
  }
}

export type OrderLinks = ReturnType<typeof createOrderLinks>
