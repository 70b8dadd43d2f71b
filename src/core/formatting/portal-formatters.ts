import { formatMoney, getNumberFormatter } from './number-formatter.js'

const MAX_DECIMALS = 6
const round = (value: number): number => Number(value.toFixed(MAX_DECIMALS))

/** Creates formatters for the numbers, money and dates of the portal. */
function createFormatters(locale: string, timeZone: string) {
  const numbers = getNumberFormatter(locale)
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone })
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone })
  const seconds = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', timeZone })
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  return {
    numbers,
    /** A whole number */
    count: numbers.whole,
    /** kg with one decimal, so that columns align */
    kilograms: (value: number): string => numbers.decimal(value, 1),
    /** At most six decimals, without trailing zeros */
    exact: (value: number): string => numbers.exact(round(value)),
    /** kg with one to six decimals */
    exactKilograms: (value: number): string =>
      Number.isInteger(round(value)) ? numbers.decimal(value, 1) : numbers.exact(round(value)),
    /** A ratio (0 to 1) as a whole percentage */
    percent: numbers.percent,
    /** An amount in minor units, with all decimals of its currency */
    money: formatMoney,
    /** The date of a timestamp: ISO 8601, or ms since 1970 */
    date: (timestamp: string | number): string => date.format(new Date(timestamp)),
    /** The time of an ISO 8601 timestamp */
    time: (timestamp: string): string => time.format(new Date(timestamp)),
    timeWithSeconds: (timestamp: string): string => seconds.format(new Date(timestamp)),
    /** Date and time of a timestamp: ISO 8601, or ms since 1970 */
    dateTime: (timestamp: string | number): string =>
      `${date.format(new Date(timestamp))}, ${time.format(new Date(timestamp))}`,
    /** A calendar day, such as `2026-11-20` */
    day: (isoDate: string): string => day.format(new Date(`${isoDate}T00:00:00Z`)),
  }
}

export type Formatters = ReturnType<typeof createFormatters>

const cache = new Map<string, Formatters>()
const MAX_CACHED = 50

/** Same as `createFormatters`, cached because Intl constructors are slow. */
export function getFormatters(locale: string, timeZone: string): Formatters {
  const key = `${locale} ${timeZone}`
  let formatters = cache.get(key)
  if (formatters === undefined) {
    if (cache.size >= MAX_CACHED) cache.clear()
    formatters = createFormatters(locale, timeZone)
    cache.set(key, formatters)
  }
  return formatters
}
