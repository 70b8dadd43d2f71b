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
