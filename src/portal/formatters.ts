import { getNumberFormatter } from '../formatting/number-formatter.js'
import { getMinorUnitDigits } from '../orders/minor-units.js'

/** Figures and dates as a reader's locale writes them. Dates are those of a time zone. */
export function createFormatters(locale: string, timeZone: string) {
  const whole = new Intl.NumberFormat(locale)
  const mass = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const exact = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 })
  const exactMass = new Intl.NumberFormat(locale, {
    minimumFractionDigits: 1,
    maximumFractionDigits: 6,
  })
  const percent = new Intl.NumberFormat(locale, { style: 'percent' })
  const decimalSign =
    mass.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.'
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone })
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone })
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const currencies = new Map<string, Intl.NumberFormat>()
  return {
    numbers: getNumberFormatter(locale),
    count: (value: number): string => whole.format(value),
    /** kg with one decimal, so that columns align */
    kilograms: (value: number): string => mass.format(value),
    /** A number with all the digits that mean something */
    exact: (value: number): string => exact.format(value),
    /** kg with all the digits that mean something, and one decimal at the least, as lists have it */
    exactKilograms: (value: number): string => exactMass.format(value),
    /** A share of 1, as whole percents */
    percent: (share: number): string => percent.format(share),
    /** A number written with a decimal point, as this reader would type it */
    typed: (text: string): string => text.replace('.', decimalSign),
    /** An amount in minor units, with all the decimals of its currency */
    money(amountMinor: number, currency: string): string {
      const digits = getMinorUnitDigits(currency)
      let format = currencies.get(currency)
      if (format === undefined) {
        const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits }
        format = new Intl.NumberFormat(locale, { style: 'currency', currency, ...decimals })
        currencies.set(currency, format)
      }
      return format.format(amountMinor / 10 ** digits)
    },
    date: (moment: string): string => date.format(new Date(moment)),
    time: (moment: string): string => time.format(new Date(moment)),
    /** A calendar day, such as `2026-11-20` */
    day: (isoDate: string): string => day.format(new Date(`${isoDate}T00:00:00Z`)),
  }
}

export type Formatters = ReturnType<typeof createFormatters>

const made = new Map<string, Formatters>()
const MOST_KEPT = 50

/** The same, made once for each locale: making them takes longer than using them. */
export function getFormatters(locale: string, timeZone: string): Formatters {
  const key = `${locale} ${timeZone}`
  let known = made.get(key)
  if (known === undefined) {
    if (made.size >= MOST_KEPT) made.clear()
    known = createFormatters(locale, timeZone)
    made.set(key, known)
  }
  return known
}
