import type { Calculation } from './calculator-data.js'
import type { PrefillSource } from './read-prefill.js'
import type { Vessel } from './vessel.js'

/** A portfolio with the price of a trip; text from the provider is untrusted. */
export interface OfferedPortfolio {
  id: number
  name: string
  description: string | null
  /** Names of drawings, for a portfolio without a picture */
  drawings: string[]
  /** Picture of a project on this service; `null` if there is none */
  imagePath: string | null
  /** Lowest price, avoidance or removal, standards and places, as far as they are known */
  traits: string[]
  /** With the paths of their pages, and their shares of the portfolio as far as they are known */
  projects: { name: string; path: string; share: string | null }[]
  /** Formatted; `null` if the trip cannot be ordered */
  price: string | null
  /** What a tonne costs as paid, formatted; `null` if the price is the minimum of an order */
  perTonne: string | null
}

/** The carbon credits that a guest can buy for a trip. */
interface OffsetOffer {
  /** The parameters of the order form */
  fields: Record<string, string>
  /** Empty if there is no provider */
  portfolios: OfferedPortfolio[]
  /** The price with the first portfolio, or without a provider, formatted; `null` if unknown */
  price: string | null
  /**
   * What the part of one guest costs, by the ID of the portfolio, or 0 without a provider; empty if
   * there are not several guests. Formatted; `null` if it cannot be ordered
   */
  partPrices: Record<number, string | null>
  /** Why the trip cannot be ordered; `null` if it can */
  problem: string | null
}

/** A result, and the scanned link that it was calculated from. */
interface OfferedResult {
  calculation: Calculation
  source: (PrefillSource & { isEdited: boolean }) | null
}

/** Returns what a guest can buy for a result. Does not wait long for prices, and never throws. */
export type FindOffsetOffer = (result: OfferedResult) => Promise<OffsetOffer>

/** A portfolio and its price for a trip. */
export interface PricedPortfolio {
  id: number
  name: string
  amountMinor: number
  currency: string
}

/** Returns the price of a trip with a portfolio; `null` if it is unknown or cannot be paid. */
export type FindTripPrice = (
  trip: { calculation: Calculation; vessel: Vessel | null },
  portfolioId: number,
) => Promise<PricedPortfolio | null>

/** The page where guests order. */
interface OrderPage {
  path: string
  query: URLSearchParams
  /** The parameter for the ID of a portfolio */
  parameter: string
  /** Whether guests can order only their part of a trip */
  hasShares: boolean
}

/** The parts of a trip to choose from: one guest's part, and the whole. */
function listShares({ partPrices, price, portfolios }: OffsetOffer) {
  const wholePrices =
    portfolios.length === 0
      ? { 0: price }
      : Object.fromEntries(portfolios.map((portfolio) => [portfolio.id, portfolio.price]))
  const whole = { value: 'whole', label: 'Whole trip', prices: wholePrices, price, forGuests: null }
  const partPrice = partPrices[portfolios[0]?.id ?? 0] ?? null
  const part = { value: 'part', label: 'My part', prices: partPrices, price: partPrice }
  return [{ ...part, forGuests: '1' }, whole]
}

/**
 * What a result page offers, with links to the order page.
 *
 * @param offer `null` if there are no prices
 */
export function buildOfferView(
  offer: OffsetOffer | null,
  { path, query, parameter, hasShares }: OrderPage,
) {
  const buildLink = (
    price: string | null,
    portfolioId: number | null,
    forGuests: string | null = null,
  ) => {
    const parameters = new URLSearchParams(query)
    if (portfolioId !== null) parameters.set(parameter, String(portfolioId))
    if (forGuests !== null) parameters.set('forGuests', forGuests)
    const label = price === null ? 'Buy carbon credits' : `Buy credits for ${price}`
    return { url: `${path}?${parameters.toString()}`, label }
  }
  const whole = buildLink(offer?.price ?? null, null)
  const shares = offer !== null && hasShares ? listShares(offer) : []
  const choices = shares.map(({ forGuests, prices, ...share }) => ({
    ...share,
    /** Whether the price depends on the guests on board, which are not known */
    needsGuests: Object.keys(prices).length === 0,
    /** By portfolio, for the script that follows the choice */
    prices: JSON.stringify(prices),
    link: buildLink(share.price, null, forGuests),
  }))
  return {
    /** Empty if only the whole trip can be ordered, without a price */
    choices,
    hasShares,
    /** The link without a choice */
    url: whole.url,
    portfolios: (offer?.portfolios ?? []).map((portfolio) => ({
      ...portfolio,
      link: buildLink(portfolio.price, portfolio.id),
    })),
    link: choices.find(({ price }) => price !== null)?.link ?? whole,
    /** Why the trip cannot be ordered; `null` if it can */
    problem: offer?.problem ?? null,
  }
}
