import type { FastifyPluginAsync } from 'fastify'
import type { GetPriceTerms } from '../ordering/price-parts.js'
import type { ListPricedPortfolios } from '../provider/portfolio-prices.js'
import checkoutPages from './checkout-pages.js'
import type { FindOffsetOffer } from './offset-offer.js'
import pages, { type PageOptions } from './pages.js'
import type { ReadPrefill } from './prefill.js'
import routes from './routes.js'

interface Options {
  readPrefill: ReadPrefill
  /** `null` if guests may not list the provider's portfolios and prices */
  listPortfolios: ListPricedPortfolios | null
  /** The service fee and the limits that apply to portfolio prices */
  getTerms: GetPriceTerms
  /** `null` if guests cannot order */
  findOffer: FindOffsetOffer | null
  onStep: PageOptions['onStep']
}

/** The calculators: API and pages, including the home page. */
const calculator: FastifyPluginAsync<Options> = async (app, options) => {
  const { readPrefill, listPortfolios, getTerms, findOffer, onStep } = options
  await app.register(routes)
  await app.register(pages, {
    readPrefill,
    hasPortfolios: listPortfolios !== null,
    getTerms,
    findOffer,
    onStep,
  })
  await app.register(checkoutPages, { readPrefill, listPortfolios, getTerms })
}

export default calculator
