import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../core/http/problem.js'
import { isCurrency } from '../core/validation/formats.js'
import type { Amount } from '../orders/amount.js'
import type { Portfolio } from '../provider/offset-order.js'
import type { OffsetOrderSource } from '../provider/order-source-client.js'

/** What guests can order, and its price. */
export interface Offer {
  /** `null` without a provider */
  portfolio: Pick<Portfolio, 'id' | 'name' | 'description' | 'projects'> | null
  pricePerTonne: Amount
}

/** The offers, the provider's default first; at least one. */
type Offers = readonly [Offer, ...Offer[]]

/** Prices that are older than this are reloaded, but are used until the new ones are available. */
const FRESH_MS = 60_000
/** Prices that are older than this count as unknown. Equals the validity of a quote. */
const MAX_AGE_MS = 30 * 60_000
/** Pause before the next attempt after prices could not be read. */
const RETRY_MS = 10_000
const MAX_DELAY_MS = 300

const isPrice = ({ amountMinor, currency }: Amount): boolean =>
  Number.isSafeInteger(amountMinor) && amountMinor > 0 && isCurrency(currency)

/**
 * Converts portfolios to offers. Portfolios without a price of their own get `price`, if there is
 * one.
 */
const toOffers = (portfolios: readonly Portfolio[], price: Amount | null): Offer[] =>
  portfolios.flatMap(({ pricePerTon, ...portfolio }) => {
    const pricePerTonne = pricePerTon ?? price
    return pricePerTonne !== null && isPrice(pricePerTonne) ? [{ portfolio, pricePerTonne }] : []
  })

const isNotEmpty = (offers: Offer[]): offers is [Offer, ...Offer[]] => offers.length > 0

/**
 * Lists what guests can order; `null` if there is neither a provider nor a price.
 *
 * @param price per tonne of CO2e; used if there is no provider, and for portfolios without a price
 */
export function createPriceList(
  source: Pick<OffsetOrderSource, 'listPortfolios'> | null,
  price: Amount | null,
): PriceList | null {
  if (source !== null) return createProviderPriceList(source, price)
  if (price === null) return null
  const offers: Offers = [{ portfolio: null, pricePerTonne: price }]
  return { read: async () => offers, readQuickly: async () => offers }
}

function createProviderPriceList(
  source: Pick<OffsetOrderSource, 'listPortfolios'>,
  price: Amount | null,
) {
  let known: { offers: Offers; readAt: number } | null = null
  let reading: Promise<void> | null = null
  let failedAt = -Infinity

  /** Never throws: on an error, the prices are unchanged. */
  async function refresh(): Promise<void> {
    const response = await source.listPortfolios().catch(() => null)
    const offers = response?.outcome === 'ok' ? toOffers(response.value, price) : []
    if (isNotEmpty(offers)) known = { offers, readAt: performance.now() }
    else failedAt = performance.now()
  }

  /** Reads the prices once for all concurrent callers. */
  function refreshOnce(): Promise<void> {
    if (performance.now() - failedAt < RETRY_MS) return Promise.resolve()
    reading ??= refresh().finally(() => (reading = null))
    return reading
  }

  function getOffers(maxAgeMs: number): Offers | null {
    return known !== null && performance.now() - known.readAt < maxAgeMs ? known.offers : null
  }

  async function read(waitForRefresh: () => Promise<unknown>): Promise<Offers | null> {
    const fresh = getOffers(FRESH_MS)
    if (fresh !== null) return fresh
    const older = getOffers(MAX_AGE_MS)
    if (older === null) await waitForRefresh()
    else void refreshOnce()
    return getOffers(MAX_AGE_MS)
  }

  return {
    /** Returns the offers. Throws a Problem (503) if their prices are unknown. */
    async read(): Promise<Offers> {
      const offers = await read(refreshOnce)
      if (offers !== null) return offers
      throw new Problem(
        503,
        'Offset prices are unavailable at the moment. Try again in a minute.',
        {
          headers: { 'retry-after': '60' },
        },
      )
    },
    /** Returns the offers; `null` if that would take too long, or if their prices are unknown. */
    readQuickly: (): Promise<Offers | null> =>
      read(() => Promise.race([refreshOnce(), sleep(MAX_DELAY_MS)])),
  }
}

export type PriceList = ReturnType<typeof createProviderPriceList>
