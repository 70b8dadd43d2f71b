import type { FindOffsetOffer, FindTripPrice, OfferedPortfolio } from '../calculator/result-page.js'
import { WHOLE_TRIP, type Share } from '../orders/share.js'
import type { ProjectImages } from '../provider/project-images.js'
import { toTripFields, type TripFields } from './ordered-trip.js'
import { buildCardPrice, buildPortfolioView, findLowestPrice } from './portfolio-view.js'
import { describeNoPrice } from './prices.js'
import type { OfferPrice, Quotes } from './quotes.js'

const ONE_GUEST: Share = { sharePercent: null, forGuests: 1 }
const MAX_PORTFOLIOS = 12

/**
 * Creates the function that prices a result and links it to the order form. If the trip came from a
 * scanned link and was not edited, the new link keeps its signature.
 */
export const createOfferFinder = (
  quotes: Quotes,
  images: ProjectImages | null,
): FindOffsetOffer => {
  const toOfferedPortfolio = (
    { portfolio, result }: OfferPrice,
    lowestId: number | null,
  ): OfferedPortfolio[] =>
    portfolio === null || portfolio.name === ''
      ? []
      : [{ ...buildPortfolioView(portfolio, images, lowestId), ...buildCardPrice(result) }]

  return async ({ calculation, source }) => {
    const fields: TripFields =
      source === null || source.isEdited
        ? toTripFields(calculation, source)
        : { data: source.data, sig: source.sig }
    const trip = { calculation, vessel: source?.vessel ?? null }
    const prices = (await quotes.listQuickly(trip, WHOLE_TRIP)) ?? []
    const first = prices[0]?.result
    const { guests = 1 } = calculation.calculatorData
    const parts = guests > 1 ? await quotes.listQuickly(trip, ONE_GUEST) : null
    const lowestId = findLowestPrice(parts ?? prices)
    return {
      fields,
      portfolios: prices
        .flatMap((price) => toOfferedPortfolio(price, lowestId))
        .slice(0, MAX_PORTFOLIOS),
      price: first === undefined ? null : buildCardPrice(first).price,
      partPrices: Object.fromEntries(
        (parts ?? []).map(({ portfolio, result }) => [
          portfolio?.id ?? 0,
          buildCardPrice(result).price,
        ]),
      ),
      problem: first === undefined || first.outcome === 'priced' ? null : describeNoPrice(first),
    }
  }
}

/** Creates the function that prices a trip for the operator's shop. */
export const createTripPriceFinder =
  (quotes: Quotes): FindTripPrice =>
  async (trip, portfolioId) => {
    const prices = (await quotes.listQuickly(trip, WHOLE_TRIP)) ?? []
    const found = prices.find(({ portfolio }) => portfolio?.id === portfolioId)
    if (found?.portfolio == null || found.result.outcome !== 'priced') return null
    const { id, name } = found.portfolio
    const { amountMinor, currency } = found.result.price
    return { id, name, amountMinor, currency }
  }
