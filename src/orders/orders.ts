import type { FastifyPluginAsync } from 'fastify'
import type { OrderStore } from '../order-store/order-store.js'
import { addFreshnessHeader } from './freshness-header.js'
import routes from './routes.js'
import statsRoutes from './stats-routes.js'
import { handleStoreError } from './store-error-handler.js'

/** API for orders and their statistics. */
const orders: FastifyPluginAsync<{ store: OrderStore }> = async (app, { store }) => {
  app.readiness.set('orders', async () => store.getReadiness())
  addFreshnessHeader(app, store)
  app.setErrorHandler(handleStoreError)
  await app.register(routes, { store })
  await app.register(statsRoutes, { store })
}

export default orders
