import { getMinorUnitDigits } from '../core/formatting/number-formatter.js'

/** Currencies without decimals for which Stripe expects hundredths, in multiples of 100. */
const HUNDREDTHS_AT_STRIPE = ['ISK', 'UGX']
/** Currencies that have hundredths in ISO 4217, but no decimals at Stripe. */
const NO_HUNDREDTHS_AT_STRIPE = ['MGA']

/**
 * Stripe charges multiples of this amount, in minor units of ISO 4217: for example 10 in currencies
 * with three decimals, because the last digit must be 0. See https://docs.stripe.com/currencies.
 */
function getChargeStep(currency: string): number {
  if (NO_HUNDREDTHS_AT_STRIPE.includes(currency)) return 100
  return getMinorUnitDigits(currency) === 3 ? 10 : 1
}

/** The largest amount that Stripe charges, in its minor units. */
const MAX_AMOUNT = 99_999_999

/**
 * The smallest amounts that Stripe charges, in minor units of ISO 4217. Other currencies have a
 * minimum of about half a US dollar, which is not checked. See https://docs.stripe.com/currencies.
 */
const MIN_AMOUNTS: Record<string, number> = {
  AED: 200,
  AUD: 50,
  BGN: 100,
  BRL: 50,
  CAD: 50,
  CHF: 50,
  CZK: 1_500,
  DKK: 250,
  EUR: 50,
  GBP: 30,
  HKD: 400,
  HUF: 17_500,
  INR: 50,
  JPY: 50,
  MXN: 1_000,
  MYR: 200,
  NOK: 300,
  NZD: 50,
  PLN: 200,
  RON: 200,
  SEK: 300,
  SGD: 50,
  THB: 1_000,
  USD: 50,
}

/** The amounts that Stripe charges in a currency, in minor units of ISO 4217. */
export const getChargeLimits = (currency: string) => ({
  minimumMinor: MIN_AMOUNTS[currency] ?? 0,
  stepMinor: getChargeStep(currency),
  maximumMinor: fromStripeAmount(MAX_AMOUNT, currency).amountMinor,
})

/**
 * Converts an amount from ISO 4217 minor units to Stripe's minor units; `null` if Stripe cannot
 * charge it exactly.
 */
export function toStripeAmount(amountMinor: number, currency: string): number | null {
  if (amountMinor % getChargeStep(currency) !== 0) return null
  if (HUNDREDTHS_AT_STRIPE.includes(currency)) return amountMinor * 100
  return NO_HUNDREDTHS_AT_STRIPE.includes(currency) ? amountMinor / 100 : amountMinor
}

/**
 * Converts an amount from Stripe's minor units to ISO 4217 minor units, and the currency code to
 * upper case. Rounds fractions of a minor unit down, so that an insufficient amount never counts as
 * sufficient.
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
