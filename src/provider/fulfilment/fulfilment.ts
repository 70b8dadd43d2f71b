import fp from 'fastify-plugin'
import type { Order } from '../../orders/order.js'
import { countNoun, type DescribeConsequences } from '../../orders/pages/order-extensions.js'
import { findSharedProviderOrders } from '../../orders/store/order-store.js'
import { findOrderMessage } from '../../outbox/read-messages.js'
import {
  createAutoFulfilment,
  erasePlacements,
  FULFILMENT_QUEUE,
  isPlacedWhenPaid,
} from './auto-fulfilment.js'
import { createFulfilment, type Fulfilment } from './fulfil-orders.js'
import placementPages from './fulfilment-pages.js'
import { buildOffsetOrderSection } from './offset-order-section.js'

type FindPurchaseProblem = (order: Order) => Promise<string | null>

declare module 'fastify' {
  interface FastifyInstance {
    /** Places orders with the provider; `null` if none is configured */
    fulfilment: Fulfilment | null
    /** Adds a check of why the credits of an order should not be bought, as a clause. */
    addPurchaseCheck: (findProblem: FindPurchaseProblem) => void
  }
}

/** Says for how many orders changes make the service buy credits. */
const describePurchases: DescribeConsequences = (changes, options) => {
  const paid = changes.filter(({ before, after }) => isPlacedWhenPaid(after, before.status))
  const counted = options.isSingle ? '' : ` of ${countNoun(paid.length, 'order', options)}`
  return paid.length === 0
    ? []
    : [{ clause: `buys the credits${counted}`, note: 'A purchase cannot be undone.' }]
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
    app.orderPage.addSection({
      place: 'provider',
      template: '/provider/_offset-order',
      build: async (data, state) => {
        const { order } = data
        const provider = {
          fulfilment,
          placement: await findOrderMessage(app.database, order.id, FULFILMENT_QUEUE),
          duplicates: await findSharedProviderOrders(store, order),
        }
        return buildOffsetOrderSection(data, provider, state)
      },
    })
    if (fulfilment !== null) {
      app.portalPages.push((scope) => placementPages(scope, { fulfilment }))
    }
    if (!app.config.AUTO_FULFIL || fulfilment === null || source === null) return
    const autoFulfilment = createAutoFulfilment(store, fulfilment, source.maxRequestMs)
    app.events.addConsumer('fulfilment', autoFulfilment.consume, 'Automatic fulfilment')
    app.orderPage.addConsequences(async () => describePurchases)
    app.outbox.addSender(autoFulfilment.sender)
  },
  { name: 'fulfilment', dependencies: ['provider', 'order-pages', 'events', 'erasure'] },
)
