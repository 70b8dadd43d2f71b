import type { FastifyPluginAsync } from 'fastify'
import checkoutPages from './checkout-pages.js'
import type { FindOffsetOffer, FindTripPrice } from './offset-offer.js'
import pages, { type PageOptions } from './pages.js'
import type { ReadPrefill } from './prefill.js'
import routes from './routes.js'

interface Options {
  readPrefill: ReadPrefill
  /** These are `null` if there are no prices. */
  findOffer: FindOffsetOffer | null
  findTripPrice: FindTripPrice | null
  onStep: PageOptions['onStep']
}

/** The calculators: API and pages, including the home page. */
const calculator: FastifyPluginAsync<Options> = async (app, options) => {
  const { readPrefill, findOffer, findTripPrice, onStep } = options
  await app.register(routes)
  await app.register(pages, { readPrefill, findOffer, onStep })
  await app.register(checkoutPages, { readPrefill, findTripPrice })
}

export default calculator
