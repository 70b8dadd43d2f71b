import fp from 'fastify-plugin'
import pages from './calculator-pages.js'
import routes from './estimate-routes.js'
import previewImages from './preview-image-pages.js'
import type { FindOffsetOffer, FindTripPrice } from './result-page.js'
import checkoutPages from './shop-link-pages.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** What other features add to the results of the calculators, before the service is ready */
    resultPage: {
      /** These are `null` if there are no prices. */
      findOffer: FindOffsetOffer | null
      findTripPrice: FindTripPrice | null
      /** Called when a scanned link is opened, and when a guest first sees a result */
      onStep: (step: 'scan' | 'result') => void
    }
  }
}

/** The calculators: API and pages, including the home page. */
export default fp(
  async (app) => {
    app.decorate('resultPage', {
      findOffer: null,
      findTripPrice: null,
      onStep: () => undefined,
    })
    await app.register(routes)
    await app.register(pages)
    await app.register(previewImages)
    await app.register(checkoutPages)
  },
  { name: 'calculator', dependencies: ['prefill', 'views', 'telemetry'] },
)
