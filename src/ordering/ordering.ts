import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { createIdentifierHasher } from '../accounts/hashed-identifier.js'
import type { ReadPrefill } from '../calculator/prefill.js'
import { createSigner } from '../config/signer.js'
import type { OrderStore } from '../order-store/order-store.js'
import type { PaymentStore } from '../payments/payment-store.js'
import type { Payments } from '../payments/payments.js'
import type { OffsetOrderSource } from '../provider/order-source-client.js'
import type { PrefillLinks } from '../qr-code/prefill-link.js'
import certificatePages from './certificate/certificate-pages.js'
import type { Certificates } from './certificate/certificates.js'
import formPages from './form-pages.js'
import { createFormTokens } from './form-token.js'
import { createOrderLimits } from './order-limits.js'
import { createOrderLinks, type OrderLinks } from './order-links.js'
import orderPages from './order-pages.js'
import { getOwnPrice } from './ordering-config.js'
import { createOrderPlacer } from './place-order.js'
import { createPriceList } from './price-list.js'
import quoteRoutes from './quote-routes.js'
import { createQuotes, type Quotes } from './quotes.js'
import type { GetPriceTerms } from './price-parts.js'
import { createPaymentStarter } from './start-payment.js'

/**
 * Creates the quote service; `null` if neither a provider nor a price is configured. Ordering is
 * then off.
 */
export function createServiceQuotes(
  { config }: Pick<FastifyInstance, 'config'>,
  source: OffsetOrderSource | null,
  getTerms: GetPriceTerms,
): Quotes | null {
  const prices = createPriceList(source, getOwnPrice(config))
  const signer = createSigner(config.sessionSecrets, 'offset quote v1')
  return prices && createQuotes({ prices, signer, getTerms })
}

/** Creates the private links to guest orders. */
export const createServiceLinks = ({
  config,
  database,
}: Pick<FastifyInstance, 'config' | 'database'>): OrderLinks =>
  createOrderLinks(database, createSigner(config.sessionSecrets, 'order link v1'))

interface Options {
  /** `null` if ordering is off; existing orders keep their pages */
  quotes: Quotes | null
  readPrefill: ReadPrefill
  createLink: PrefillLinks['create']
  store: OrderStore
  certificates: Certificates
  links: OrderLinks
  paymentStore: PaymentStore
  /** `null` if Stripe is not configured */
  payments: Payments | null
}

/** Enough for the largest form, URL-encoded. */
const MAX_FORM_BYTES = 32 * 1024

/** Guest orders: quotes, the order form, the order page, and certificates. */
const ordering: FastifyPluginAsync<Options> = async (app, options) => {
  const { quotes, readPrefill, createLink, store, links, certificates, paymentStore, payments } =
    options
  const { sessionSecrets, ORDER_LIMIT_PER_CLIENT, ORDER_LIMIT_PER_EMAIL } = app.config
  const limits = createOrderLimits({
    stateStore: app.stateStore,
    hashIdentifier: createIdentifierHasher(sessionSecrets[0]),
    perClient: ORDER_LIMIT_PER_CLIENT,
    perEmail: ORDER_LIMIT_PER_EMAIL,
  })
  const startPayment = createPaymentStarter(payments, app.publicBaseUrl)
  await app.register(quoteRoutes, {
    quotes,
    readPrefill,
    createLink: app.config.QR_REQUIRE_ADMIN ? null : createLink,
  })
  await app.register(async (scope) => {
    await scope.register(formbody, { bodyLimit: MAX_FORM_BYTES })
    scope.addHook('onRequest', (_request, reply, done) => {
      reply.headers({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' })
      done()
    })
    await scope.register(formPages, {
      quotes,
      readPrefill,
      formTokens: createFormTokens(createSigner(sessionSecrets, 'order form v1')),
      placeOrder: createOrderPlacer({ store, links, limits }),
      startPayment,
      findNameProblem: certificates.findNameProblem,
    })
    await scope.register(orderPages, {
      store,
      links,
      certificates,
      paymentStore,
      payments,
      startPayment,
      createLink,
      canOrder: quotes !== null,
    })
    await scope.register(certificatePages, {
      certificates,
      findOrderId: (token) => links.find(token),
    })
  })
}

export default ordering
