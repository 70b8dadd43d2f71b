import type { FastifyPluginAsync } from 'fastify'
import { formatMoney } from '../core/formatting/money-formatter.js'
import { buildPortfolioView } from './portfolio-view.js'
import { getTripUrl } from './project-pages.js'
import { requireOrdering } from './quotes.js'

/** The page that says what guests buy, from whom, and what they get. */
const page: FastifyPluginAsync = async (app) => {
  const { projectImages } = app

  app.get('/carbon-credits', async (request, reply) => {
    const quotes = requireOrdering(app.quotes)
    const { REFUND_POLICY, TERMS_URL, ORDERSOURCE_NAME, SERVICE_FEE_PERCENT } = app.config
    const offers = (await quotes.listOffersQuickly()) ?? []
    return reply.renderView(
      { page: 'checkout/carbon-credits' },
      {
        providerName: ORDERSOURCE_NAME,
        hasProvider: app.orderSource !== null,
        feePercent: SERVICE_FEE_PERCENT,
        refundPolicy: REFUND_POLICY,
        termsUrl: TERMS_URL,
        tripUrl: getTripUrl(request, app.publicBaseUrl()),
        offers: offers.flatMap(({ portfolio, paidPerTonne }) =>
          portfolio === null || portfolio.name === ''
            ? []
            : {
                ...buildPortfolioView(portfolio, projectImages),
                perTonne: formatMoney(paidPerTonne.amountMinor, paidPerTonne.currency),
              },
        ),
      },
    )
  })
}

export default page
