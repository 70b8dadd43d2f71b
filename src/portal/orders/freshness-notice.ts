import type { FastifyInstance } from 'fastify'
import { getLocale } from '../../core/http/locale.js'
import type { OrderStore } from '../../orders/store/order-store.js'
import { buildFreshnessView } from './freshness-view.js'

/** Adds a notice to all pages of a scope while the replica is behind NocoDB. */
export function addFreshnessNotice(app: FastifyInstance, store: OrderStore): void {
  const { timeZone } = store.calendar
  app.addHook('onRequest', async (request, reply) => {
    if (store.getFreshness() === null) return
    const locale = getLocale(request.headers['accept-language'])
    reply.outOfBand = {
      template: 'portal/_freshness-part',
      getData: () => ({
        freshness: buildFreshnessView(store.getFreshness(), { locale, timeZone, now: Date.now() }),
      }),
    }
  })
}
