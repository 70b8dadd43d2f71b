import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { getNumberFormatter } from '../formatting/number-formatter.js'
import { getLocale } from '../http/locale.js'
import { Problem } from '../http/problem.js'
import type { OrderStore } from '../order-store/order-store.js'
import { getMoneyFormatter } from '../formatting/money-formatter.js'
import type { Order } from '../orders/order.js'
import { handleStoreError } from '../orders/store-error-handler.js'
import type { Certificates } from './certificate/certificates.js'
import type { PageFormat } from './order-form-view.js'
import type { OrderLinks } from './order-links.js'
import { buildOrderView } from './order-view.js'
import { getPaymentInstructions } from './ordering-config.js'
import { GUEST } from './place-order.js'

interface Options {
  store: OrderStore
  links: OrderLinks
  certificates: Certificates
}

interface OrderRoute {
  Params: { token: string }
}

/** The page of a guest's order. The token in its path is the only permission to see it. */
const pages: FastifyPluginAsync<Options> = async (app, { store, links, certificates }) => {
  const { TIME_ZONE: timeZone } = app.config
  const dates = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone,
  })
  app.setErrorHandler(handleStoreError)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('referrer-policy', 'no-referrer')
    done()
  })

  /** Throws a Problem (404), the same for every token that opens no order. */
  async function findOrder({ params }: FastifyRequest<OrderRoute>): Promise<Order> {
    const id = await links.find(params.token)
    const order = id === null ? null : await store.get(id)
    if (order === null) {
      throw new Problem(404, 'There is no order at this address. Check that the link is complete.')
    }
    return order
  }

  function getFormat({ headers }: FastifyRequest): PageFormat {
    const locale = getLocale(headers['accept-language'])
    return {
      numbers: getNumberFormatter(locale),
      money: getMoneyFormatter(locale),
      time: (timestamp) => dates.format(new Date(timestamp)),
    }
  }

  async function showOrder(
    request: FastifyRequest<OrderRoute>,
    reply: FastifyReply,
    page: 'ordering/order' | 'ordering/cancel',
  ) {
    const order = await findOrder(request)
    const path = `/o/${request.params.token}`
    if (page === 'ordering/cancel' && order.status !== 'pending') return reply.redirect(path, 303)
    const history = (await store.getHistory(order.id)) ?? []
    const format = getFormat(request)
    const state = await certificates.findByOrder(order)
    const certificate = state?.withdrawal === null ? state.certificate : null
    const view = buildOrderView(order, history, {
      certificate: certificate && {
        code: certificate.code,
        issuedAt: certificate.issuedAt,
        pdfProblem: await certificates.findPdfProblem(certificate, true),
      },
      paymentInstructions: getPaymentInstructions(app.config),
      format,
      formatDate: format.time,
    })
    return reply.renderView({ page }, { order: view, path })
  }

  app.get<OrderRoute>('/o/:token', async (request, reply) =>
    showOrder(request, reply, 'ordering/order'),
  )

  app.get<OrderRoute>('/o/:token/cancel', async (request, reply) =>
    showOrder(request, reply, 'ordering/cancel'),
  )

  // No check of the request's origin: only the guest's own pages know the token. Their policy makes
  // browsers send `Origin: null`.
  app.post<OrderRoute>('/o/:token/cancel', async (request, reply) => {
    for (;;) {
      const { id, status, version } = await findOrder(request)
      // Only an administrator, who refunds the payment, can cancel a paid order.
      if (status !== 'pending') break
      const context = { by: GUEST, ifVersions: [version] }
      const { outcome } = await store.apply(id, { type: 'cancel' }, context)
      if (outcome !== 'version_conflict') break
    }
    return reply.redirect(`/o/${request.params.token}`, 303)
  })
}

export default pages
