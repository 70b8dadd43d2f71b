import type { FastifyInstance } from 'fastify'
import type { OrderStore } from '../order-store/order-store.js'
import type { PaymentStore } from './payment-store.js'
import { createPayments, type Payments } from './payments.js'
import { createStripeGateway } from './stripe-gateway.js'

/** Creates the payments of the service; `null` if Stripe is not configured. */
export async function createServicePayments(
  { config, log }: Pick<FastifyInstance, 'config' | 'log'>,
  store: OrderStore,
  payments: PaymentStore,
): Promise<Payments | null> {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = config
  if (secretKey === undefined || webhookSecret === undefined) return null
  return createPayments({
    store,
    payments,
    stripe: await createStripeGateway({
      secretKey,
      webhookSecret,
      apiUrl: config.STRIPE_API_URL,
    }),
    checkMs: config.STRIPE_CHECK_INTERVAL * 1000,
    log,
    onProblem: ({ id, orderId, problem, amountMinor, currency }) =>
      log.error(
        { payment: id, orderId, problem, amountMinor, currency },
        'a payment needs attention',
      ),
  })
}
