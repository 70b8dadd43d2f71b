import { getMinorUnitDigits } from './minor-units.js'

/** Creates a function that formats an amount in minor units, with all decimals of its currency. */
export function createMoneyFormatter(locale: string) {
  const formats = new Map<string, Intl.NumberFormat>()
  return (amountMinor: number, currency: string): string => {
    const digits = getMinorUnitDigits(currency)
    let format = formats.get(currency)
    if (format === undefined) {
      const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits }
      format = new Intl.NumberFormat(locale, { style: 'currency', currency, ...decimals })
      formats.set(currency, format)
    }
    return format.format(amountMinor / 10 ** digits)
  }
}

export type FormatMoney = ReturnType<typeof createMoneyFormatter>

const MAX_CACHED = 50
const cache = new Map<string, FormatMoney>()

/** Same as `createMoneyFormatter`, cached because Intl constructors are slow. */
export function getMoneyFormatter(locale: string): FormatMoney {
  let format = cache.get(locale)
  if (format === undefined) {
    if (cache.size >= MAX_CACHED) cache.clear()
    format = createMoneyFormatter(locale)
    cache.set(locale, format)
  }
  return format
}
