import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createSigner } from '../core/config/signer.js'
import { createDayCalendar } from '../core/formatting/day-calendar.js'
import { arePortfoliosPublic } from '../provider/paths.js'
import paymentRequestPages from './bank-transfer/payment-request-pages.js'
import { createOfferFinder, createTripPriceFinder } from './build-offer.js'
import { createPriceTerms, getOwnPrice } from './checkout-config.js'
import { createConversionCounter, type ConversionCounter } from './conversions.js'
import creditsPage from './credits-page.js'
import formPages from './form-pages.js'
import orderPages from './guest-order-pages.js'
import newOrderPages from './new-order/new-order-pages.js'
import { createOrderLinks, type OrderLinks } from './order-links.js'
import { createPriceList } from './price-list.js'
import projectPages from './project-pages.js'
import quoteRoutes from './quote-routes.js'
import { createQuotes, type Quotes } from './quotes.js'

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
    await app.register(creditsPage)
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
