import { getMinorUnitDigits } from '../core/formatting/minor-units.js'

/** Price of a tonne of CO₂e, in major units. */
export const PRICES_PER_TONNE = {
  EUR: 25,
  USD: 27,
  GBP: 21.5,
  NOK: 290,
  SEK: 285,
  CHF: 24,
  AUD: 41,
  JPY: 4_200,
} as const

const isPriced = (currency: string): currency is keyof typeof PRICES_PER_TONNE =>
  Object.hasOwn(PRICES_PER_TONNE, currency)

/** Price of an offset in minor units of the currency, rounded up. */
export function createDemoPrice(co2eKg: number, currency: string): number {
  if (!isPriced(currency)) throw new Error(`no price in ${currency}`)
  const minor = (co2eKg / 1_000) * PRICES_PER_TONNE[currency] * 10 ** getMinorUnitDigits(currency)
  return Math.ceil(Number(minor.toFixed(6)))
}
