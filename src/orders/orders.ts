import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { ConfigPart, ConfigRule, Values } from '../core/config/config-part.js'
import type { Config } from '../core/config/config.js'
import { Problem } from '../core/http/problem.js'
import { isCurrency } from '../core/validation/formats.js'
import { getDatabasePath } from '../database/database-plugin.js'
import type { DatabaseSource } from '../database/stream-rows.js'
import { addFreshnessHeader } from './freshness.js'
import type { OrderFilters } from './order-filters.js'
import routes from './order-routes.js'
import statsRoutes from './stats-routes.js'
import { openOrderStore } from './store/open-order-store.js'
import type { OrderStore } from './store/order-store.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  ORDERS_READ_ONLY: Type.Boolean({
    default: false,
    description: 'Reject changes to orders while they are moved to another database',
  }),
  CURRENCY: Type.String({
    default: 'USD',
    description: 'Default currency of new orders, shown first on the dashboard',
  }),
}

const rules: readonly ConfigRule[] = [
  ['CURRENCY', isCurrency, 'must be an ISO 4217 code in capitals, such as EUR'],
]

/** Orders. */
export const orderConfig = { variables, rules } satisfies ConfigPart

declare module 'fastify' {
  interface FastifyInstance {
    /** The orders */
    orders: OrderStore
    /** Filters and references that other features add to lists and exports */
    orderFilters: OrderFilterResolver
  }
}

type ResolveFilters = (filters: OrderFilters) => Promise<OrderFilters>
type FindReferenced = (reference: string) => Promise<number[]>

/**
 * Filters and searches of other features. Their data is always in the service's database, even if
 * the orders are not, so they are replaced by the IDs of the orders that match them. A search for a
 * whole reference finds its order if the text occurs in no order.
 */
function createFilterResolver(store: OrderStore) {
  const filterResolvers: ResolveFilters[] = []
  const references: FindReferenced[] = [
    async (reference) => (await store.findByOrderSourceId(reference)).map(({ id }) => id),
  ]
  return {
    /** Adds a function that replaces filters of a feature. */
    addFilter: (resolve: ResolveFilters): void => void filterResolvers.push(resolve),
    /** Adds a function that finds orders by a whole reference, such as the ID of a payment. */
    addReference: (find: FindReferenced): void => void references.push(find),

    async resolve(filters: OrderFilters): Promise<OrderFilters> {
      let resolved = filters
      for (const resolve of filterResolvers) resolved = await resolve(resolved)
      const { q = '', ...rest } = resolved
      if (q === '') return resolved
      const found = (await Promise.all(references.map((find) => find(q.trim())))).flat()
      if (found.length === 0) return resolved
      const { total } = await store.list({ q }, { sort: '-placedAt', offset: 0, limit: 1 })
      if (total > 0) return resolved
      return { ...rest, ids: found.filter((id) => resolved.ids?.includes(id) ?? true) }
    },
  }
}

export type OrderFilterResolver = ReturnType<typeof createFilterResolver>

const READ_ONLY = 'Orders are read-only for maintenance'

/** An order store that rejects changes, so that its orders can be copied while the service runs. */
function toReadOnlyStore(store: OrderStore): OrderStore {
  const reject = async (): Promise<never> => {
    throw new Problem(503, `${READ_ONLY}. Nothing was changed. Try again later.`, {
      headers: { 'retry-after': '60' },
    })
  }
  return {
    ...store,
    create: reject,
    apply: reject,
    getFreshness() {
      const { asOf, problem } = store.getFreshness() ?? {
        asOf: new Date().toISOString(),
        problem: null,
      }
      return { asOf, problem: problem ?? READ_ONLY, isWritable: false }
    },
  }
}

const getSource = ({ DATABASE_URL: url, DATA_DIR }: Config): DatabaseSource =>
  url === undefined
    ? { type: 'sqlite', path: getDatabasePath(DATA_DIR) }
    : { type: 'postgres', url }

interface Options {
  /** Returns the store to use instead, for orders that are kept elsewhere */
  replaceStore: (store: OrderStore, app: FastifyInstance) => Promise<OrderStore>
}

/** API for orders and their statistics. */
async function api(app: FastifyInstance): Promise<void> {
  addFreshnessHeader(app)
  await app.register(routes)
  await app.register(statsRoutes)
}

/** The order store and its API. */
export default fp<Options>(
  async (app, { replaceStore }) => {
    const { config, database, log } = app
    const source = getSource(config)
    const own = await openOrderStore({ database, source, timeZone: config.TIME_ZONE, log })
    const opened = await replaceStore(own, app)
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
