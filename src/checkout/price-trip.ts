import { calculateEstimate } from '../calculator/estimate.js'
import type { Calculation } from '../calculator/calculator-data.js'
import { Order } from '../orders/order.js'
import { getSharedGrams, type Share } from '../orders/share.js'
import type { Amount } from '../orders/amount.js'
import { calculatePriceParts, type GetPriceTerms, type PriceParts } from './price-parts.js'

const GRAMS_PER_TONNE = 1_000_000
const MAX_GRAMS = (Order.properties.co2eKg.maximum ?? Infinity) * 1000
const MAX_AMOUNT_MINOR = Order.properties.amountMinor.maximum ?? Infinity

/** What an order costs. Amounts are in minor units. */
export interface Price extends PriceParts {
  currency: string
  /** The price of a tonne of credits, without the service fee */
  pricePerTonneMinor: number
  /**
   * What a tonne costs as paid: with the service fee, but without the minimum and the steps, which
   * apply to a whole order
   */
  paidPerTonneMinor: number
  /** Whether the service fee was increased to reach the minimum */
  isMinimum: boolean
  /** Mass of the credits, to the gram */
  co2eKg: number
}

/** What a tonne costs as paid, in minor units. */
export const getPaidPerTonne = (
  { amountMinor, currency }: Amount,
  getTerms: GetPriceTerms,
): number => {
  const { serviceFee } = getTerms(currency)
  return calculatePriceParts(GRAMS_PER_TONNE, amountMinor, { serviceFee, minimumMinor: 0 })
    .amountMinor
}

/** A price; or why there is none that a customer can pay. */
export type PriceResult =
  { outcome: 'priced'; price: Price } | { outcome: 'too_small' | 'too_large' }

/** Tells a customer why there is no price. */
export const describeNoPrice = ({ outcome }: { outcome: string }): string =>
  outcome === 'too_small'
    ? 'This is too small to be ordered here.'
    : 'This is too large to be ordered here at once. You can order a smaller share.'

/**
 * Prices a mass. All prices that a customer sees come from here. Pure.
 *
 * @param grams a whole number
 * @param pricePerTonne what the credits cost per tonne of CO2e
 */
export function priceMass(
  grams: number,
  pricePerTonne: Amount,
  getTerms: GetPriceTerms,
): PriceResult {
  if (grams <= 0) return { outcome: 'too_small' }
  if (grams > MAX_GRAMS) return { outcome: 'too_large' }
  const { amountMinor: pricePerTonneMinor, currency } = pricePerTonne
  const terms = getTerms(currency)
  const noLimits = { serviceFee: terms.serviceFee, minimumMinor: 0 }
  const parts = calculatePriceParts(grams, pricePerTonneMinor, terms)
  const { maximumMinor = Infinity, minimumMinor } = terms
  if (parts.amountMinor > Math.min(MAX_AMOUNT_MINOR, maximumMinor)) return { outcome: 'too_large' }
  const unlimited = calculatePriceParts(grams, pricePerTonneMinor, noLimits)
  const price: Price = {
    ...parts,
    currency,
    pricePerTonneMinor,
    paidPerTonneMinor: getPaidPerTonne(pricePerTonne, getTerms),
    isMinimum: unlimited.amountMinor < minimumMinor,
    co2eKg: grams / 1000,
  }
  return { outcome: 'priced', price }
}

/**
 * Prices a share of a trip's emissions. Pure.
 *
 * @param share valid for the trip
 */
export function priceTrip(
  trip: Calculation,
  pricePerTonne: Amount,
  share: Share,
  getTerms: GetPriceTerms,
): PriceResult {
  const grams = getSharedGrams(calculateEstimate(trip).co2eKg, share, trip.calculatorData.guests)
  return priceMass(grams, pricePerTonne, getTerms)
}
