import type { FastifyPluginAsync } from 'fastify'
import { getRequestFormatters } from '../core/http/locale.js'
import { parseListContext } from '../orders/pages/list-context.js'
import type { Notice } from '../orders/pages/order-extensions.js'
import type { OrderRequest, OrderRoute } from '../orders/pages/order-presenter.js'
import { buildRefund } from './payment-section.js'
import { getBalance, type Payment } from './payment.js'
import type { RefundResult } from './stripe-payments.js'

/** Requires a recent sign-in before the dialog opens, so that confirming it does not fail. */
const REFUND = { config: { permission: 'orders:settle', recentSignIn: true } } as const

/** Why a payment was not refunded; `null` if it was, or if nothing was left to refund. */
function describeFailure(result: RefundResult): Notice | null {
  switch (result.outcome) {
    case 'refused':
      return { title: 'Stripe refused the refund', text: result.reason }
    case 'changed':
      return {
        title: 'The payment has changed',
        text: 'Nothing was refunded. Check the amount, and refund it again.',
      }
    case 'unavailable':
      return {
        title: 'Stripe is not responding',
        text: 'We couldn’t confirm that the payment was refunded. It’s safe to try again: it will be refunded only once.',
      }
    case 'refunded':
    case 'nothing_to_refund':
      return null
  }
}

const parseExpectedAmount = (text: unknown): number | null =>
  typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : null

/** Payments that can be refunded first, and among them those with a problem. */
const getRefundPriority = (payment: Payment): number =>
  getBalance(payment) === 0 ? 0 : payment.problem === null ? 1 : 2

/** Pages that refund payments through Stripe. */
const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, orderPage, payments } = app
  const { render, renderNotFound, confirm } = orderPage

  /**
   * Returns the payment that a request names or, if it names none, the one to refund first; `null`
   * if the order has no such payment.
   */
  async function findPayment({ params, query }: OrderRequest): Promise<Payment | null> {
    const all = await payments.store.list(params.id)
    const [first = null] = all.toSorted((a, b) => getRefundPriority(b) - getRefundPriority(a))
    return query.payment === undefined
      ? first
      : (all.find(({ id }) => id === query.payment) ?? null)
  }

  app.get<OrderRoute>('/admin/orders/:id/refund', REFUND, async (request: OrderRequest, reply) => {
    const order = await store.get(request.params.id)
    if (order === null) return renderNotFound(reply)
    const payment = payments.service === null ? null : await findPayment(request)
    const context = parseListContext(request.query)
    const refund = payment && buildRefund(payment, context, getRequestFormatters(request))
    if (payment === null || refund === null) {
      return orderPage.renderInstead(request, reply, order)
    }
    return reply.renderView(
      { page: 'payments/refund', fragment: 'payments/_refund-dialog' },
      {
        order: await orderPage.buildDialogView(request, order),
        refund,
        // Other payments, such as a second one, leave the order as it is.
        endsOrder: payment.settledAt !== null,
      },
    )
  })

  app.post<OrderRoute>('/admin/orders/:id/refund', REFUND, async (request: OrderRequest, reply) => {
    const { id } = request.params
    if ((await store.get(id)) === null) return renderNotFound(reply)
    const payment = await findPayment(request)
    const result =
      payment === null || payments.service === null
        ? { outcome: 'nothing_to_refund' as const }
        : await payments.service.refund(payment.id, {
            by: request.actor,
            expectedMinor: parseExpectedAmount(request.body?.amountMinor),
            onRefund: (refunded) =>
              app.auditLog.record(request, {
                action: 'payment.refunded',
                details: { orderId: id, ...refunded },
              }),
          })
    const order = await store.get(id)
    if (order === null) return renderNotFound(reply)
    const notice = describeFailure(result)
    if (notice !== null) {
      reply.code(result.outcome === 'unavailable' ? 503 : 409)
      return render(request, reply, order, { notice })
    }
    // Another request, such as a second click, may have refunded the payment first.
    const refunded = payment && (await payments.store.get(payment.id))
    const isRefunded = (refunded?.refundedMinor ?? 0) > 0
    return confirm(request, reply, order, isRefunded ? 'refunded' : 'unchanged')
  })
}

export default pages
