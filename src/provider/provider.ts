import fp from 'fastify-plugin'
import { createOffsetOrderSource, type OffsetOrderSource } from './order-source-client.js'
import { createPortfolioPrices, type ListPricedPortfolios } from './portfolio-prices.js'
import { createProjectImages, type ProjectImages } from './project-images.js'
import proxy from './proxy.js'
import { openUpstream } from './upstream.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The carbon-offset provider; `null` if none is configured */
    orderSource: OffsetOrderSource | null
    /** Pictures of the provider's projects; `null` if no provider is configured */
    projectImages: ProjectImages | null
    /** `null` if no provider is configured */
    listPricedPortfolios: ListPricedPortfolios | null
  }
}

/** The carbon-offset provider: its proxy, and the client that other features use. */
export default fp(
  async (app) => {
    const upstream = openUpstream(app.config, app.metrics)
    const images = upstream && createProjectImages(upstream.baseUrl)
    app.addHook('onClose', () => Promise.all([upstream?.close(), images?.close()]))
    const source = upstream && createOffsetOrderSource(upstream)
    app.decorate('orderSource', source)
    app.decorate('projectImages', images)
    app.decorate('listPricedPortfolios', source && createPortfolioPrices(source))
    await app.register(proxy, { upstream })
  },
  { name: 'provider', dependencies: ['config', 'telemetry', 'health', 'auth-guard'] },
)
