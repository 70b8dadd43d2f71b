import fp from 'fastify-plugin'
import { findPurchaseProblem } from '../payments/payment.js'
import { createAutoFulfilment, erasePlacements } from './auto-fulfilment.js'
import { createFulfilment, type Fulfilment } from './place-orders.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Places orders with the provider; `null` if none is configured */
    fulfilment: Fulfilment | null
  }
}

/** Places orders with the provider: on request and, with AUTO_FULFIL, when they are paid. */
export default fp(
  async (app) => {
    const { orders: store, orderSource: source, payments } = app
    const fulfilment = source && createFulfilment(store, source)
    app.decorate('fulfilment', fulfilment)
    app.eraser.add({ eraseFormerCustomer: erasePlacements })
    if (!app.config.AUTO_FULFIL || fulfilment === null || source === null) return
    const autoFulfilment = createAutoFulfilment({
      store,
      fulfilment,
      findPaymentProblem: async (orderId) =>
        findPurchaseProblem(await payments.store.list(orderId)),
      maxRequestMs: source.maxRequestMs,
    })
    app.events.addConsumer('fulfilment', autoFulfilment.consume)
    app.outbox.addSender(autoFulfilment.sender)
  },
  { name: 'fulfilment', dependencies: ['provider', 'orders', 'events', 'erasure', 'payments'] },
)
