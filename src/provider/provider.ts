import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import {
  optional,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import type { Amount } from '../orders/amount.js'
import type { Portfolio } from './offset-order.js'
import { createOffsetOrderSource, type OffsetOrderSource } from './order-source-client.js'
import { parseBaseUrl, parsePublicRoutes } from './paths.js'
import { createProjectImages, type ProjectImages } from './project-images.js'
import proxy from './proxy.js'
import { openUpstream } from './upstream.js'

export type PricedPortfolio = Portfolio & { pricePerTon: Amount }

const CACHE_MS = 60_000
/** The longest time that a request waits for the provider. */
const MAX_WAIT_MS = 2_000

/**
 * Returns a function that lists the provider's portfolios that have a price. That function returns
 * `null` if the portfolios are unavailable. They are cached, because a form requests them whenever
 * the user stops typing for a moment.
 */
function createPortfolioPrices(source: Pick<OffsetOrderSource, 'listPortfolios'>) {
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

type ListPricedPortfolios = ReturnType<typeof createPortfolioPrices>

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  ORDERSOURCE_BASE_URL: optional('URL of the order source, such as https://api.example.com/v1'),
  ORDERSOURCE_API_TOKEN: optional('Bearer token for the order source'),
  ORDERSOURCE_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 120_000,
    default: 10_000,
    description: 'Time-out for the first byte of a response and between bytes',
  }),
  ORDERSOURCE_NAME: optional('Name of the order source on certificates, such as Wren'),
  ORDERSOURCE_PUBLIC_ROUTES: Type.String({
    default: 'GET /portfolios',
    description: 'Routes of the order source that need no sign-in: METHOD /path, or none',
  }),
  AUTO_FULFIL: Type.Boolean({
    default: false,
    description: 'Place paid guest orders with the order source',
  }),
}

/** The token is sent in a header, so it must be ASCII without spaces. */
const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

const rules: readonly ConfigRule[] = [
  [
    'ORDERSOURCE_BASE_URL',
    (text) => parseBaseUrl(text) !== null,
    'must be an https URL without a query (http only on a loopback address)',
  ],
  ['ORDERSOURCE_API_TOKEN', isToken, 'must be ASCII without spaces'],
  [
    'ORDERSOURCE_PUBLIC_ROUTES',
    (text) => parsePublicRoutes(text) !== null,
    'must be none, or methods with paths, comma-separated, such as GET /portfolios or GET /projects?country&page',
  ],
]

function findErrors(environment: NodeJS.ProcessEnv): string[] {
  const errors: string[] = []
  const { ORDERSOURCE_BASE_URL, ORDERSOURCE_API_TOKEN, AUTO_FULFIL } = environment
  if (ORDERSOURCE_BASE_URL !== undefined && ORDERSOURCE_API_TOKEN === undefined) {
    errors.push('ORDERSOURCE_API_TOKEN is required with ORDERSOURCE_BASE_URL')
  }
  if (AUTO_FULFIL === 'true' && ORDERSOURCE_BASE_URL === undefined) {
    errors.push('AUTO_FULFIL needs an order source: set ORDERSOURCE_BASE_URL')
  }
  return errors
}

/** The order source, and orders that are placed with it. */
export const providerConfig = { variables, rules, findErrors } satisfies ConfigPart

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
