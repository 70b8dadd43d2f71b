import type { FastifyInstance } from 'fastify'
import type { OrderStore } from './order-store.js'

/**
 * Tells with every answer of a scope how old the orders are that it shows, where they are a
 * copy: `orders-as-of` is when NocoDB had them so.
 */
export function tellFreshness(app: FastifyInstance, book: Pick<OrderStore, 'freshness'>): void {
  app.addHook('onRequest', async (_request, reply) => {
    const asOf = book.freshness()?.asOf
    if (asOf) void reply.header('orders-as-of', asOf)
  })
}
