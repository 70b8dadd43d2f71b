import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import {
  optional,
  parseHttpUrl,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import { isLoopback } from '../core/http/client-address.js'
import { Problem } from '../core/http/problem.js'
import { stringEnum } from '../core/validation/formats.js'
import type { Order } from '../orders/order.js'
import paymentRoutes, { stripeWebhooks } from './payment-routes.js'
import { buildPaymentSection, describePayment } from './payment-section.js'
import { createPaymentStore, loadUnreturnedMoney, type PaymentStore } from './payment-store.js'
import { findPurchaseProblem, findStatusProblem } from './payment.js'
import refundPages from './refund-pages.js'
import { createStripeGateway } from './stripe-gateway.js'
import { createStripePayments, type Payments } from './stripe-payments.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  PAYMENT: stringEnum<'invoice' | 'stripe'>(['invoice', 'stripe'], {
    default: 'invoice',
    description: "How guests pay: by bank transfer, or on Stripe's page",
  }),
  STRIPE_SECRET_KEY: optional('Secret or restricted API key of Stripe: sk_… or rk_…'),
  STRIPE_WEBHOOK_SECRET: optional("Signing secret of Stripe's webhook endpoint: whsec_…"),
  STRIPE_API_URL: Type.String({
    default: 'https://api.stripe.com',
    description: "Origin of Stripe's API",
  }),
  STRIPE_CHECKOUT_URL: Type.String({
    default: 'https://checkout.stripe.com',
    description: 'Origin of the payment page; your own with a custom domain at Stripe',
  }),
  STRIPE_CHECK_INTERVAL: Type.Number({
    minimum: 0.1,
    maximum: 3600,
    default: 60,
    description: 'Seconds between checks of a new payment, in case a webhook is lost',
  }),
}

const REQUIRED = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] as const

/** Keys are sent in a header, so they must be ASCII without spaces. */
const isSecretKey = (text: string): boolean => /^[sr]k_[\x21-\x7e]+$/.test(text)
const isWebhookSecret = (text: string): boolean => /^whsec_[\x21-\x7e]+$/.test(text)

function isSafeOrigin(text: string): boolean {
  const url = parseHttpUrl(text)
  if (url?.pathname !== '/' || url.search !== '' || url.hash !== '') return false
  return url.protocol === 'https:' || isLoopback(url.hostname)
}

const ORIGIN = 'must be an https URL without a path (http only on a loopback address)'

const rules: readonly ConfigRule[] = [
  ['STRIPE_SECRET_KEY', isSecretKey, 'must be a secret or restricted key, such as sk_live_…'],
  ['STRIPE_WEBHOOK_SECRET', isWebhookSecret, 'must be a signing secret, such as whsec_…'],
  ['STRIPE_API_URL', isSafeOrigin, ORIGIN],
  ['STRIPE_CHECKOUT_URL', isSafeOrigin, ORIGIN],
]

function findErrors(environment: NodeJS.ProcessEnv): string[] {
  const isUsed =
    environment.PAYMENT === 'stripe' || REQUIRED.some((name) => environment[name] !== undefined)
  const missing = REQUIRED.filter((name) => isUsed && environment[name] === undefined)
  return missing.map((name) =>
    environment.PAYMENT === 'stripe'
      ? `${name} is required with PAYMENT=stripe`
      : `${name} is required with the other Stripe variables`,
  )
}

/** How guests pay. */
export const paymentConfig = { variables, rules, findErrors } satisfies ConfigPart

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
