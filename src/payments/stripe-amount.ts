import { getMinorUnitDigits } from '../formatting/minor-units.js'

/** Charged without decimals, although Stripe expects hundredths that are zero. */
const HUNDREDTHS_AT_STRIPE = ['ISK', 'UGX']
/** Has hundredths in ISO 4217, but none at Stripe. */
const NO_HUNDREDTHS_AT_STRIPE = ['MGA']

/**
 * The smallest step of amounts that Stripe charges, in minor units of ISO 4217: 10 in currencies with
 * three decimals, whose last digit must be 0. See https://docs.stripe.com/currencies.
 */
export function getChargeStep(currency: string): number {
  if (NO_HUNDREDTHS_AT_STRIPE.includes(currency)) return 100
  return getMinorUnitDigits(currency) === 3 ? 10 : 1
}

/**
 * Converts an amount from minor units of ISO 4217 to those of Stripe; `null` if Stripe cannot charge
 * it exactly.
 */
export function toStripeAmount(amountMinor: number, currency: string): number | null {
  if (amountMinor % getChargeStep(currency) !== 0) return null
  if (HUNDREDTHS_AT_STRIPE.includes(currency)) return amountMinor * 100
  return NO_HUNDREDTHS_AT_STRIPE.includes(currency) ? amountMinor / 100 : amountMinor
}

/**
 * Converts an amount from minor units of Stripe, with its lower-case currency. Rounds down what has no
 * minor unit, so that too little money never counts as enough.
 */
export function fromStripeAmount(amount: number, stripeCurrency: string) {
  const currency = stripeCurrency.toUpperCase()
  if (HUNDREDTHS_AT_STRIPE.includes(currency)) {
    return { amountMinor: Math.floor(amount / 100), currency }
  }
  return {
    amountMinor: NO_HUNDREDTHS_AT_STRIPE.includes(currency) ? amount * 100 : amount,
    currency,
  }
}
