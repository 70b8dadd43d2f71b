import type { FindOffsetOffer } from '../calculator/offset-offer.js'
import { getMoneyFormatter } from '../formatting/money-formatter.js'
import { toTripFields, type TripFields } from './ordered-trip.js'
import type { Quotes } from './quotes.js'

/**
 * Creates the function that links a result to the order form and finds the price. If the trip came
 * from a scanned link and was not edited, the new link keeps its signature.
 */
export const createOfferFinder =
  (quotes: Quotes): FindOffsetOffer =>
  async ({ calculation, source, locale }) => {
    const fields: TripFields =
      source === null || source.isEdited
        ? toTripFields(calculation, source)
        : { data: source.data, sig: source.sig }
    const price = await quotes.findPriceQuickly({ calculation, vessel: source?.vessel ?? null })
    return {
      url: `/offset?${new URLSearchParams(fields).toString()}`,
      price: price && getMoneyFormatter(locale)(price.amountMinor, price.currency),
      portfolioParameter: 'portfolioId',
    }
  }
