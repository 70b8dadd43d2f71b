import { withUnit, type NumberFormatter } from './number-formatter.js'

/** Formats the values of a page. */
export interface PageFormat {
  numbers: NumberFormatter
  /** Formats an ISO 8601 timestamp, depending on the page as a date, a time or both */
  time: (timestamp: string) => string
}

/** Decimal places that show a mass in tonnes to the gram */
const TONNE_DIGITS = 6

/** A mass to the gram, in kg below one tonne and in tonnes otherwise. */
export const formatMass = (kilograms: number, numbers: NumberFormatter): string =>
  kilograms < 1000
    ? withUnit(numbers.exact(kilograms), 'kg')
    : withUnit(numbers.exact(Number((kilograms / 1000).toFixed(TONNE_DIGITS))), 't')

/** A mass rounded for people: to three digits, or to a whole number from 100. */
export function formatRoundedMass(kilograms: number, numbers: NumberFormatter): string {
  const isTonnes = kilograms >= 999.5
  const value = isTonnes ? kilograms / 1000 : kilograms
  const rounded = value < 100 ? Number(value.toPrecision(3)) : Math.round(value)
  return withUnit(numbers.exact(rounded), isTonnes ? 't' : 'kg')
}
