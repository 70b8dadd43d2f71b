import type { OfferedPortfolio, OffsetOffer } from './offset-offer.js'

/** The page where guests order. */
interface OrderPage {
  path: string
  query: URLSearchParams
  /** The parameter for the ID of a portfolio */
  parameter: string
}

/** A link to the order page, and its text. */
interface OrderLink {
  url: string
  label: string
}

/** What a result page offers. */
export interface OfferView {
  portfolios: (OfferedPortfolio & { link: OrderLink })[]
  link: OrderLink
  /** Why the trip cannot be ordered; `null` if it can */
  problem: string | null
}

const toLabel = (price: string | null): string =>
  price === null ? 'Buy carbon credits' : `Buy credits for ${price}`

/** @param offer `null` if there are no prices */
export function buildOfferView(
  offer: OffsetOffer | null,
  { path, query, parameter }: OrderPage,
): OfferView {
  const buildLink = (price: string | null, portfolioId: number | null): OrderLink => {
    const parameters = new URLSearchParams(query)
    if (portfolioId !== null) parameters.set(parameter, String(portfolioId))
    return { url: `${path}?${parameters.toString()}`, label: toLabel(price) }
  }
  return {
    portfolios: (offer?.portfolios ?? []).map((portfolio) => ({
      ...portfolio,
      link: buildLink(portfolio.price, portfolio.id),
    })),
    link: buildLink(offer?.price ?? null, null),
    problem: offer?.problem ?? null,
  }
}
