import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { sendCertificatePdf } from '../certificates/certificate-pages.js'
import { getRequestNumbers } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import { canGuestCancel } from '../orders/attempt.js'
import { getOrderTrip } from '../orders/order-trip.js'
import type { Order } from '../orders/order.js'
import { WHOLE_TRIP } from '../orders/share.js'
import type { Payment } from '../payments/payment.js'
import { createBankTransfers } from './bank-transfer/bank-transfer.js'
import { buildGuestOrderView } from './guest-order-view.js'
import { toFormQuery, toTripFields } from './ordered-trip.js'
import { buildPaymentView, toPaymentReturn } from './payment-view.js'
import { GUEST, startPayment } from './place-order.js'

interface OrderRoute {
  Params: { token: string }
  Querystring: { payment?: unknown; refresh?: unknown }
}

/** The page refreshes itself after this time, and less often each time. */
const MIN_REFRESH_SECONDS = 3
const MAX_REFRESH_SECONDS = 5 * 60
const REFRESH_BACKOFF = 1.3

/** Returns the order that a private link opens. Throws a Problem (404), the same for every token. */
export async function requireGuestOrder(
  { orders, orderLinks }: FastifyInstance,
  token: string,
): Promise<Order> {
  const id = await orderLinks.find(token)
  const order = id === null ? null : await orders.get(id)
  if (order !== null) return order
  throw new Problem(
    404,
    'There is no order at this address. Open the link in the email that we sent you.',
    { heading: 'We cannot find this order' },
  )
}

/** The page of a guest's order. The token in its path is the only permission to see it. */
const pages: FastifyPluginAsync = async (app) => {
  const { orders: store, orderLinks: links, certificates } = app
  const { store: paymentStore, service: payments } = app.payments
  const canOrder = app.quotes !== null
  const buildBankTransfer = createBankTransfers(app.config, store.calendar)
  const { TIME_ZONE: timeZone, ORDER_RATE_LIMIT_PER_MINUTE } = app.config
  const checkoutOrigin = new URL(app.config.STRIPE_CHECKOUT_URL).origin
  const dates = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone,
  })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('referrer-policy', 'no-referrer')
    done()
  })

  const isPaidThroughStripe = ({ checkout }: Order): boolean =>
    payments !== null && checkout?.paymentMethod === 'stripe'

  /**
   * Returns the latest Stripe payment of an order. If the guest has just returned from Stripe,
   * queries Stripe first.
   */
  async function findPayment(order: Order, isReturning: boolean): Promise<Payment | null> {
    if (isReturning) await payments?.refresh(order.id)
    const [payment = null] = await paymentStore.list(order.id)
    return payment
  }

  /** The order form for the trip of an order; `null` if the order has no valid trip. */
  function buildAgainUrl(order: Order): string | null {
    const trip = getOrderTrip(order)
    if (trip === null || !canOrder) return null
    const { vesselName: name, imoNumber, checkout } = order
    const link =
      name === null
        ? null
        : app.prefillLinks.create(trip, { name, ...(imoNumber && { imoNumber }) })
    const fields = link ? { data: link.data, sig: link.sig } : toTripFields(trip, null)
    return `/offset?${toFormQuery(fields, checkout ?? { ...WHOLE_TRIP, portfolioId: null })}`
  }

  /** How an order page that can change refreshes itself, by the number of times it has done so. */
  function buildRefresh({ params, query }: FastifyRequest<OrderRoute>, isChecking: boolean) {
    const done = Number(query.refresh ?? 0)
    const count = Number.isSafeInteger(done) && done >= 0 ? done + 1 : 1
    const seconds = MIN_REFRESH_SECONDS * REFRESH_BACKOFF ** (count - 1)
    return {
      count,
      seconds: Math.round(Math.min(seconds, MAX_REFRESH_SECONDS)),
      url: `/o/${params.token}?${isChecking ? 'payment=done&' : ''}refresh=${String(count)}`,
    }
  }

  async function showOrder(
    request: FastifyRequest<OrderRoute>,
    reply: FastifyReply,
    page: 'checkout/order' | 'checkout/cancel',
  ) {
    let order = await requireGuestOrder(app, request.params.token)
    const path = `/o/${request.params.token}`
    if (page === 'checkout/cancel' && order.status !== 'pending') return reply.redirect(path, 303)
    const from = toPaymentReturn(request.query.payment)
    const payment = await findPayment(order, from === 'done' && order.status === 'pending')
    if (from === 'done') order = await requireGuestOrder(app, request.params.token)
    const history = (await store.getHistory(order.id)) ?? []
    const format = {
      numbers: getRequestNumbers(request),
      time: (timestamp: string) => dates.format(new Date(timestamp)),
    }
    const state = await certificates.findByOrder(order)
    const certificate = state?.withdrawal === null ? state.certificate : null
    const online = isPaidThroughStripe(order) ? buildPaymentView(order, payment, from) : null
    // A refresh can add the form, but cannot change the policy of the page.
    if (online) reply.allowFormsTo(checkoutOrigin)
    const view = buildGuestOrderView(order, history, {
      certificate,
      pdfProblem: certificate && (await certificates.findPdfProblem(certificate, true)),
      payment,
      online,
      hasMail: app.mailDelivery !== null,
      bankTransfer: buildBankTransfer(order),
      format,
    })
    return reply.renderView(
      { page, fragment: 'checkout/_order' },
      {
        order: view,
        online,
        path,
        refresh: view.isFinal ? null : buildRefresh(request, online?.isChecking ?? false),
        againUrl: view.status === 'cancelled' ? buildAgainUrl(order) : null,
      },
    )
  }

  const rateLimit = { max: ORDER_RATE_LIMIT_PER_MINUTE, timeWindow: '1 minute' }
  const limitReturns = app.rateLimit(rateLimit)

  /** A guest who returns from Stripe makes the service query Stripe. */
  async function limitReturning(request: FastifyRequest<OrderRoute>, reply: FastifyReply) {
    if (toPaymentReturn(request.query.payment) === 'done') {
      await limitReturns.call(app, request, reply)
    }
  }

  app.get<OrderRoute>('/o/:token', { onRequest: limitReturning }, async (request, reply) =>
    showOrder(request, reply, 'checkout/order'),
  )

  app.get<OrderRoute>('/o/:token/cancel', { onRequest: limitReturning }, async (request, reply) =>
    showOrder(request, reply, 'checkout/cancel'),
  )

  // The origin of the request is not checked. Only the guest's own pages know the token, and their
  // referrer policy makes browsers send `Origin: null`.
  app.post<OrderRoute>('/o/:token/pay', { config: { rateLimit } }, async (request, reply) => {
    const order = await requireGuestOrder(app, request.params.token)
    return reply.redirect(await startPayment(app, order, `/o/${request.params.token}`), 303)
  })

  app.post<OrderRoute>('/o/:token/cancel', async (request, reply) => {
    for (;;) {
      const order = await requireGuestOrder(app, request.params.token)
      const { id, version } = order
      // Other orders are cancelled by an administrator, who also refunds the payment.
      if (!canGuestCancel(order, (await store.getHistory(id)) ?? [])) break
      const closed = (await payments?.close(id)) ?? 'closed'
      if (closed === 'received') break
      if (closed === 'unavailable') {
        return reply.redirect(`/o/${request.params.token}?payment=uncancelled`, 303)
      }
      const context = { by: GUEST, ifVersions: [version] }
      const { outcome } = await store.apply(id, { type: 'cancel' }, context)
      if (outcome !== 'version_conflict') break
    }
    return reply.redirect(`/o/${request.params.token}`, 303)
  })

  app.get<{ Params: { token: string } }>(
    '/o/:token/certificate.pdf',
    { config: { rateLimit } },
    async ({ params }, reply) => {
      const id = await links.find(params.token)
      const state = id === null ? null : await certificates.findByOrder({ id })
      return sendCertificatePdf(reply, state, true)
    },
  )
}

export default pages
