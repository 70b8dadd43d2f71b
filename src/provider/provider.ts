import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { Amount } from '../orders/amount.js'
import type { Portfolio } from './offset-order.js'
import { createOffsetOrderSource, type OffsetOrderSource } from './order-source-client.js'
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

export type PricedPortfolio = Portfolio & { pricePerTon: Amount }

const CACHE_MS = 60_000
/** The longest time that a request waits for the provider. */
const MAX_WAIT_MS = 2_000

/**
 * Returns a function that lists the provider's portfolios that have a price. That function returns
 * `null` if the portfolios are unavailable. They are cached, because a form requests them whenever
 * the user stops typing for a moment.
 */
export function createPortfolioPrices(source: Pick<OffsetOrderSource, 'listPortfolios'>) {
  let cached: { portfolios: PricedPortfolio[]; expiresAt: number } | null = null
  let pending: Promise<void> | null = null

  async function load(): Promise<void> {
    const response = await source.listPortfolios()
    if (response.outcome !== 'ok') return
    const portfolios = response.value.filter(
      (portfolio): portfolio is PricedPortfolio => portfolio.pricePerTon !== null,
    )
    cached = { portfolios, expiresAt: performance.now() + CACHE_MS }
  }

  return async (): Promise<PricedPortfolio[] | null> => {
    if (cached === null || cached.expiresAt < performance.now()) {
      cached = null
      pending ??= load().finally(() => (pending = null))
      await Promise.race([pending, sleep(MAX_WAIT_MS, undefined, { ref: false })])
    }
    return cached?.portfolios ?? null
  }
}

export type ListPricedPortfolios = ReturnType<typeof createPortfolioPrices>
