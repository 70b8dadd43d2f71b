import type { FastifyInstance } from 'fastify'
import { isApi } from '../plugins/address.js'
import { readerLocale } from '../plugins/reader-locale.js'
import type { OrderStore } from './order-store.js'
import { freshnessView } from './pages/freshness-view.js'

/**
 * Tells with every answer of a scope how old the orders are that it shows, where they are a copy:
 * by the header `orders-as-of`, when NocoDB had them so; and on pages, while it does not keep up.
 */
export function tellFreshness(
  app: FastifyInstance,
  book: Pick<OrderStore, 'freshness'>,
  timeZone: string,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const freshness = book.freshness()
    if (freshness === null) return
    if (freshness.asOf !== null) void reply.header('orders-as-of', freshness.asOf)
    if (isApi(request.url)) return
    const locale = readerLocale(request.headers['accept-language'])
    const view = () => freshnessView(book.freshness(), { locale, timeZone, now: Date.now() })
    reply.beside = { part: 'admin/_freshness-part', data: () => ({ freshness: view() }) }
  })
}
