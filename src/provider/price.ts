import type { Amount } from './offset-order.js'

/** Decimal places of a minor unit to keep before rounding, so that floating-point errors do not count. */
const DECIMAL_PLACES = 6

/**
 * Price of a number of tons, rounded up to a minor unit as the provider does.
 *
 * @param feePercent what a customer pays on top of the provider's price
 */
export const calculatePrice = (tons: number, pricePerTon: Amount, feePercent = 0): Amount => ({
  amountMinor: Math.ceil(
    Number((tons * pricePerTon.amountMinor * (1 + feePercent / 100)).toFixed(DECIMAL_PLACES)),
  ),
  currency: pricePerTon.currency,
})
