/** Money in minor units, such as cents, with its ISO 4217 currency. */
export interface Amount {
  amountMinor: number
  currency: string
}

/** The currency of prices and charges whose currency is not given. */
export const DEFAULT_CURRENCY = 'USD'

/** What the provider charged. */
export interface Charge {
  amountMinor: number
  /** `null` if the provider does not report it; the currency of the portfolio then applies */
  currency: string | null
}

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
