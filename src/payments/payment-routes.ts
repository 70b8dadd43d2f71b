import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { Problem, problemResponses } from '../core/http/problem.js'
import { stringEnum } from '../core/validation/schema-types.js'
import { Currency } from '../orders/order.js'
import {
  getPaymentStatus,
  PAYMENT_PROBLEMS,
  PAYMENT_STATUSES,
  type Payment,
  type PaymentProblem,
  type PaymentStatus,
} from './payment.js'

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
