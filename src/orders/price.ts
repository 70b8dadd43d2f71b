import type { Amount } from './amount.js'

/**
 * Prices in minor units are first rounded to this many decimal places, so that floating-point
 * errors have no effect.
 */
const DECIMAL_PLACES = 6

/**
 * What the provider charges for a number of tons, rounded up to the next minor unit, as the
 * provider does.
 */
export const calculatePrice = (tons: number, pricePerTon: Amount): Amount => ({
  amountMinor: Math.ceil(Number((tons * pricePerTon.amountMinor).toFixed(DECIMAL_PLACES))),
  currency: pricePerTon.currency,
})
