import fp from 'fastify-plugin'
import { Problem } from '../core/http/problem.js'
import type { Order } from '../orders/order.js'
import paymentRoutes from './payment-routes.js'
import { buildPaymentSection, describePayment } from './payment-section.js'
import { createPaymentStore, type PaymentStore } from './payment-store.js'
import { findPurchaseProblem, findStatusProblem } from './payment.js'
import refundPages from './refund-pages.js'
import { createStripeGateway } from './stripe-gateway.js'
import { createStripePayments, type Payments } from './stripe-payments.js'
import { loadUnreturnedMoney } from './unreturned-money.js'
import stripeWebhooks from './webhook-routes.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Payments of guest orders through Stripe */
    payments: {
      store: PaymentStore
      /** `null` if Stripe is not configured */
      service: Payments | null
      /** Calls a listener before it is recorded that all money of an ended order was returned. */
      onReturned: (listener: OnReturned) => void
    }
  }
}

type OnReturned = (order: Order) => Promise<void>

const POLL_MS = 500

/** Payments through Stripe: their API, webhooks, checks, and filters of order lists. */
export default fp(
  async (app) => {
    const { config, orders, log } = app
    const store = createPaymentStore(app.database)
    app.orderFilters.addFilter(async ({ payment = [], ...others }) =>
      payment.length === 0 ? others : { ...others, ids: await store.findOrderIds(payment) },
    )
    app.orderFilters.addReference(async (reference) => {
      const found = [await store.findBySession(reference), await store.findByIntent(reference)]
      return found.flatMap((payment) => (payment === null ? [] : Number(payment.orderId)))
    })

    const listeners: OnReturned[] = []
    const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = config
    const service =
      secretKey === undefined || webhookSecret === undefined
        ? null
        : createStripePayments({
            store: orders,
            payments: store,
            stripe: await createStripeGateway({
              secretKey,
              webhookSecret,
              apiUrl: config.STRIPE_API_URL,
            }),
            checkMs: config.STRIPE_CHECK_INTERVAL * 1000,
            log,
            async onReturned(order) {
              for (const listener of listeners) await listener(order)
            },
          })
    app.decorate('payments', {
      store,
      service,
      onReturned: (listener) => void listeners.push(listener),
    })
    app.addPurchaseCheck(async (order) => {
      await service?.checkReceived(order.id).catch(() => {
        throw new Problem(503, 'Stripe is not responding, so the payment could not be checked.')
      })
      return findPurchaseProblem(order, await store.list(order.id))
    })
    app.orderPage.addSection({
      place: 'payment',
      template: '/payments/_payments',
      build: async (data) =>
        buildPaymentSection(await store.list(data.order.id), data, service !== null),
    })
    app.orderPage.addConsequences((orders) => loadUnreturnedMoney(store, orders))
    app.orderPage.addStatusCheck(async (order, requested) =>
      requested.isUndo || requested.status === 'refunded'
        ? findStatusProblem(order.status, requested, await store.list(order.id))
        : null,
    )
    app.orderPage.addListNotes(async (orders) => {
      const payments = await store.findLatest(orders.map(({ id }) => id))
      return (order) => describePayment(order, payments.get(order.id))
    })
    app.portalPages.push(refundPages)
    if (service !== null) {
      app.events.addConsumer('payments', service.consume, 'Payment check')
      app.schedule('check payments', POLL_MS, () => service.checkDue())
    }
    await app.register(paymentRoutes)
    await app.register(stripeWebhooks)
  },
  { name: 'payments', dependencies: ['order-pages', 'events', 'fulfilment', 'scheduler'] },
)
