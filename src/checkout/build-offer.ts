import type { FindOffsetOffer, FindTripPrice, OfferedPortfolio } from '../calculator/result-page.js'
import { formatMoney } from '../core/formatting/money-formatter.js'
import { truncateText } from '../core/formatting/text.js'
import { WHOLE_TRIP } from '../orders/share.js'
import { toTripFields, type TripFields } from './ordered-trip.js'
import { describeNoPrice, type PriceResult } from './prices.js'
import type { OfferPrice, Quotes } from './quotes.js'

const MAX_PORTFOLIOS = 12
const MAX_PROJECTS = 8
const MAX_NAME_LENGTH = 120
const MAX_DESCRIPTION_LENGTH = 300
const MAX_COUNTRY_LENGTH = 60

const formatPrice = (result: PriceResult): string | null =>
  result.outcome === 'priced' ? formatMoney(result.price.amountMinor, result.price.currency) : null

function toOfferedPortfolio({ portfolio, result }: OfferPrice): OfferedPortfolio[] {
  if (portfolio === null || portfolio.name === '') return []
  const { id, name, description, projects } = portfolio
  return [
    {
      id,
      name: truncateText(name, MAX_NAME_LENGTH),
      description: description && truncateText(description, MAX_DESCRIPTION_LENGTH),
      projects: projects
        .filter((project) => project.name !== '')
        .slice(0, MAX_PROJECTS)
        .map((project) => ({
          ...project,
          name: truncateText(project.name, MAX_NAME_LENGTH),
          country: project.country && truncateText(project.country, MAX_COUNTRY_LENGTH),
        })),
      price: formatPrice(result),
      perTonne:
        result.outcome === 'priced' && !result.price.isMinimum
          ? formatMoney(result.price.paidPerTonneMinor, result.price.currency)
          : null,
    },
  ]
}

/**
 * Creates the function that prices a result and links it to the order form. If the trip came from a
 * scanned link and was not edited, the new link keeps its signature.
 */
export const createOfferFinder =
  (quotes: Quotes): FindOffsetOffer =>
  async ({ calculation, source }) => {
    const fields: TripFields =
      source === null || source.isEdited
        ? toTripFields(calculation, source)
        : { data: source.data, sig: source.sig }
    const trip = { calculation, vessel: source?.vessel ?? null }
    const prices = (await quotes.listQuickly(trip, WHOLE_TRIP)) ?? []
    const first = prices[0]?.result
    return {
      fields,
      portfolios: prices.flatMap(toOfferedPortfolio).slice(0, MAX_PORTFOLIOS),
      price: first === undefined ? null : formatPrice(first),
      problem: first === undefined || first.outcome === 'priced' ? null : describeNoPrice(first),
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
