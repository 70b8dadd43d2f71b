import { createHash } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createSigner, type Signer } from '../core/config/secrets.js'
import { createDayCalendar } from '../core/formatting/day-calendar.js'
import type { Database } from '../database/database.js'
import type { Order } from '../orders/order.js'
import { arePortfoliosPublic } from '../provider/paths.js'
import paymentRequestPages from './bank-transfer/payment-request-pages.js'
import { createOfferFinder, createTripPriceFinder } from './build-offer.js'
import { createPriceTerms, getOwnPrice } from './checkout-config.js'
import { createConversionCounter, type ConversionCounter } from './conversions.js'
import formPages from './form-pages.js'
import orderPages from './guest-order-pages.js'
import newOrderPages from './new-order/new-order-pages.js'
import { createPriceList } from './prices.js'
import projectPages from './project-pages.js'
import quoteRoutes from './quote-routes.js'
import { createQuotes, type Quotes } from './quotes.js'

const TOKEN = /^[\w-]{22}$/

const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')

/**
 * Private links of guests to their orders. Whoever has the token may see the order, and may pay for
 * it or cancel it while it is pending.
 *
 * Stores only the hashes of tokens. A token is 128 bits of an HMAC: it cannot be guessed, and can
 * be computed again, so repeated requests and emails contain the same link. The HMAC covers the
 * time of creation because a database restored from a backup reuses the IDs of lost orders.
 */
function createOrderLinks(database: Database, signer: Signer) {
  return {
    /** Makes the link of an order valid and returns its token. Every call returns the same token. */
    async create({ id, createdAt }: Pick<Order, 'id' | 'createdAt'>): Promise<string> {
      const token = signer.sign(`${id}\n${createdAt}`)
      await database.query('INSERT INTO order_links VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [
        hashToken(token),
        id,
        Date.now(),
      ])
      return token
    },
    /** Returns the ID of the order that a token opens; `null` if there is none. */
    async find(token: string): Promise<string | null> {
      if (!TOKEN.test(token)) return null
      const [link] = await database.query<{ order_id: string }>(
        'SELECT order_id FROM order_links WHERE token_hash = ?',
        [hashToken(token)],
      )
      return link?.order_id ?? null
    },
  }
}

export type OrderLinks = ReturnType<typeof createOrderLinks>

declare module 'fastify' {
  interface FastifyInstance {
    /** Prices for guests; `null` if neither a provider nor a price is configured: ordering is off */
    quotes: Quotes | null
    /** `null` if ordering is off */
    conversions: ConversionCounter | null
    /** Private links of guests to their orders */
    orderLinks: OrderLinks
  }
}

/** Enough for the largest form, URL-encoded. */
const MAX_FORM_BYTES = 32 * 1024
const CONVERSIONS_MS = 5_000

function createAppQuotes({ config, orderSource }: FastifyInstance): Quotes | null {
  const source = arePortfoliosPublic(config) ? orderSource : null
  const prices = createPriceList(source, getOwnPrice(config))
  const signer = createSigner(config.sessionSecrets, 'offset quote v1')
  return prices && createQuotes({ prices, signer, getTerms: createPriceTerms(config) })
}

/** The links of the footer: what guests want to know before they pay. */
function listGuestLinks({ brand, config, quotes }: FastifyInstance) {
  return [
    { label: 'What am I buying?', href: quotes && '/carbon-credits' },
    { label: 'Contact', href: brand.contactUrl },
    { label: 'Terms', href: config.TERMS_URL },
    { label: 'Privacy', href: config.PRIVACY_URL },
  ].filter(({ href }) => href)
}

/** Offers the credits for a trip with the results of the calculators, and counts conversions. */
function extendResultPage(app: FastifyInstance, quotes: Quotes): ConversionCounter {
  const calendar = createDayCalendar(app.config.TIME_ZONE)
  const conversions = createConversionCounter(app.database, calendar)
  Object.assign(app.resultPage, {
    findOffer: createOfferFinder(quotes, app.projectImages),
    findTripPrice: createTripPriceFinder(quotes),
    onStep: conversions.count,
  })
  app.events.addConsumer('conversions', conversions.consume, 'Conversion figures')
  app.schedule('count conversions', CONVERSIONS_MS, () => conversions.flush())
  app.addHook('onClose', () =>
    conversions
      .flush()
      .catch((err: unknown) => app.log.error({ err }, 'some conversions are not counted')),
  )
  return conversions
}

/** The pages of guests: the order form and the order page. */
async function pages(app: FastifyInstance): Promise<void> {
  await app.register(formbody, { bodyLimit: MAX_FORM_BYTES })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' })
    done()
  })
  await app.register(formPages)
  await app.register(orderPages)
  await app.register(paymentRequestPages)
}

/** Guest orders: quotes, the order form and the order page. */
export default fp(
  async (app) => {
    const quotes = createAppQuotes(app)
    app.decorate('quotes', quotes)
    const guestLinks = listGuestLinks(app)
    app.addViewContext(() => ({ guestLinks }))
    app.decorate('conversions', quotes && extendResultPage(app, quotes))
    const linkSigner = createSigner(app.config.sessionSecrets, 'order link v1')
    app.decorate('orderLinks', createOrderLinks(app.database, linkSigner))
    await app.register(quoteRoutes)
    await app.register(projectPages)
    await app.register(pages)
    app.portalPages.push(newOrderPages)
    app.addNavigation({
      name: 'new',
      href: '/admin/orders/new',
      label: 'New order',
      permission: 'orders:write',
      position: 30,
    })
  },
  {
    name: 'checkout',
    dependencies: ['security', 'calculator', 'provider', 'payments', 'certificates', 'state-store'],
  },
)
