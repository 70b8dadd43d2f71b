import fp from 'fastify-plugin'
import type { Order } from '../../orders/order.js'
import { createAutoFulfilment, erasePlacements } from './auto-fulfilment.js'
import { createFulfilment, type Fulfilment } from './place-orders.js'

type FindPurchaseProblem = (order: Order) => Promise<string | null>

declare module 'fastify' {
  interface FastifyInstance {
    /** Places orders with the provider; `null` if none is configured */
    fulfilment: Fulfilment | null
    /** Adds a check of why the credits of an order should not be bought, as a clause. */
    addPurchaseCheck: (findProblem: FindPurchaseProblem) => void
  }
}

/** Places orders with the provider: on request and, with AUTO_FULFIL, when they are paid. */
export default fp(
  async (app) => {
    const { orders: store, orderSource: source } = app
    const checks: FindPurchaseProblem[] = []
    app.decorate('addPurchaseCheck', (check) => void checks.push(check))
    const fulfilment =
      source &&
      createFulfilment(store, source, async (order) => {
        for (const check of checks) {
          const problem = await check(order)
          if (problem !== null) return problem
        }
        return null
      })
    app.decorate('fulfilment', fulfilment)
    app.eraser.add({ eraseFormerCustomer: erasePlacements })
    if (!app.config.AUTO_FULFIL || fulfilment === null || source === null) return
    const autoFulfilment = createAutoFulfilment({
      store,
      fulfilment,
      maxRequestMs: source.maxRequestMs,
    })
    app.events.addConsumer('fulfilment', autoFulfilment.consume)
    app.outbox.addSender(autoFulfilment.sender)
  },
  { name: 'fulfilment', dependencies: ['provider', 'orders', 'events', 'erasure'] },
)
