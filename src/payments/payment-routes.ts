import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { Counter } from 'prom-client'
import { Problem, problemResponses } from '../core/http/problem.js'
import { stringEnum } from '../core/validation/formats.js'
import { Currency } from '../orders/order.js'
import {
  getPaymentStatus,
  PAYMENT_PROBLEMS,
  PAYMENT_STATUSES,
  type Payment,
  type PaymentProblem,
  type PaymentStatus,
} from './payment.js'
import { StripeUnavailableError } from './stripe-gateway.js'

const nullableText = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description })
const minorUnits = (description: string) => Type.Integer({ description })

const PaymentResponse = Type.Object(
  {
    id: Type.String({ description: 'ID of the payment' }),
    method: stringEnum<'stripe'>(['stripe'], { description: 'How the guest pays' }),
    status: stringEnum<PaymentStatus>(PAYMENT_STATUSES, {
      description:
        'open: can be paid; processing: paid by a method that takes days; failed and expired: can no longer be paid',
    }),
    amountMinor: minorUnits('Amount requested from the guest, or paid, in minor units'),
    currency: Currency,
    refundedMinor: minorUnits('Amount refunded, in minor units'),
    dispute: nullableText("Stripe's status of the dispute, such as needs_response, won or lost"),
    problem: Type.Unsafe<PaymentProblem | null>({
      type: ['string', 'null'],
      enum: [...PAYMENT_PROBLEMS, null],
      description:
        'Why the payment needs attention: its amount or currency differs from the order, part of it was refunded, or it is disputed; the order is cancelled or refunded, but the payment is not; the order had already been paid another way',
    }),
    sessionId: nullableText('ID of the Checkout session at Stripe'),
    paymentIntentId: nullableText('ID of the payment intent at Stripe'),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Payment' },
)

const toIso = (time: number): string => new Date(time).toISOString()

const toResponse = (payment: Payment) => ({
  ...payment,
  method: 'stripe' as const,
  status: getPaymentStatus(payment),
  paymentIntentId: payment.intentId,
  createdAt: toIso(payment.createdAt),
  updatedAt: toIso(payment.updatedAt),
})

/** Payments of an order, for users and integrations. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  const { orders: store } = app
  app.get(
    '/api/admin/orders/:id/payments',
    {
      config: { permission: 'orders:read' },
      schema: {
        tags: ['Orders'],
        operationId: 'listPayments',
        summary: 'List the payments of an order',
        description:
          'Attempts to pay through Stripe, the latest first. Payments by invoice are not listed.',
        params: Type.Object({ id: Type.String({ description: 'ID of the order' }) }),
        response: {
          200: Type.Object(
            { items: Type.Array(PaymentResponse) },
            { title: 'Payments of an order' },
          ),
          ...problemResponses,
        },
      },
    },
    async ({ params }) => {
      const order = await store.get(params.id)
      if (order === null) throw new Problem(404, 'Order not found.')
      return { items: (await app.payments.store.list(order.id)).map(toResponse) }
    },
  )
}

export default routes

/** Enough for the events that are read. Anyone can send a part of a body, which is kept in memory. */
const MAX_BODY_BYTES = 64 * 1024

/** Receives Stripe webhooks. */
export const stripeWebhooks: FastifyPluginAsync = async (app) => {
  const { service: payments } = app.payments
  const received = new Counter({
    name: 'clearwake_stripe_webhooks_total',
    help: 'Webhooks from Stripe, by outcome',
    labelNames: ['outcome'] as const,
    registers: [app.metrics],
  })
  // The signature covers the raw bytes.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )

  app.post<{ Body: Buffer | undefined }>(
    '/api/payments/stripe/webhook',
    {
      bodyLimit: MAX_BODY_BYTES,
      // Only Stripe calls this route.
      schema: { hide: true },
    },
    async (request, reply) => {
      if (payments === null) throw new Problem(404, 'Stripe payments are not enabled.')
      const { body, headers } = request
      const signature = headers['stripe-signature']
      const event =
        Buffer.isBuffer(body) && typeof signature === 'string'
          ? payments.readEvent(body, signature)
          : null
      if (event === null) {
        received.inc({ outcome: 'rejected' })
        throw new Problem(400, 'The signature is missing, wrong, too old or from the future.')
      }
      try {
        await payments.processEvent(event)
      } catch (error) {
        received.inc({ outcome: 'failed' })
        if (!(error instanceof StripeUnavailableError)) throw error
        request.log.warn({ event: event.id, type: event.type }, `Stripe: ${error.message}`)
        throw new Problem(503, 'Stripe is not responding. Send the event again later.', {
          headers: { 'retry-after': '60' },
        })
      }
      received.inc({ outcome: 'processed' })
      return reply.code(204).send()
    },
  )
}
