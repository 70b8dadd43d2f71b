import fp from 'fastify-plugin'
import {
  optional,
  toSecretRule,
  toUrlRule,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import pages from './calculator-pages.js'
import routes from './estimate-routes.js'
import previewImages from './preview-image.js'
import type { FindOffsetOffer, FindTripPrice } from './result-page.js'
import checkoutPages from './shop-link-pages.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  CHECKOUT_URL: optional('URL of the shop that results link to'),
  CHECKOUT_SECRET: optional('At least 32 bytes; signs the parameters sent to CHECKOUT_URL'),
}

const rules: readonly ConfigRule[] = [toUrlRule('CHECKOUT_URL'), toSecretRule('CHECKOUT_SECRET')]

/** The shop that results link to. */
export const calculatorConfig = { variables, rules } satisfies ConfigPart

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
