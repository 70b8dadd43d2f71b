import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { openOrderStore, toReadOnlyStore } from './store/open-order-store.js'
import type { OrderStore } from './store/order-store.js'
import { createFilterResolver, type OrderFilterResolver } from './filter-resolver.js'
import { addFreshnessHeader } from './freshness-header.js'
import routes from './routes.js'
import statsRoutes from './stats-routes.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The orders */
    orders: OrderStore
    /** Filters and references that other features add to lists and exports */
    orderFilters: OrderFilterResolver
  }
}

interface Options {
  /** Returns the store to use instead, for orders that are kept elsewhere */
  replaceStore: (store: OrderStore, app: FastifyInstance) => Promise<OrderStore>
}

/** API for orders and their statistics. */
async function api(app: FastifyInstance): Promise<void> {
  addFreshnessHeader(app, app.orders)
  await app.register(routes)
  await app.register(statsRoutes)
}

/** The order store and its API. */
export default fp<Options>(
  async (app, { replaceStore }) => {
    const { config, database, log } = app
    const opened = await replaceStore(await openOrderStore(config, database, log), app)
    const store = config.ORDERS_READ_ONLY ? toReadOnlyStore(opened) : opened
    app.addHook('onClose', () => store.close())
    const filters = createFilterResolver(store)
    app.decorate('orderFilters', filters)
    app.decorate('orders', {
      ...store,
      list: async (query, slice) => store.list(await filters.resolve(query), slice),
    })
    app.readiness.set('orders', async () => store.getReadiness())
    await app.register(api)
  },
  { name: 'orders', dependencies: ['config', 'database', 'health', 'auth-guard'] },
)
