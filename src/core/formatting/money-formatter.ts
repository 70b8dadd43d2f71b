import { getMinorUnitDigits } from './minor-units.js'

const formats = new Map<string, Intl.NumberFormat>()

/**
 * Formats an amount in minor units, with all decimals of its currency. The same on pages, in emails
 * and in PDF files, regardless of the reader's locale.
 */
export function formatMoney(amountMinor: number, currency: string): string {
  const digits = getMinorUnitDigits(currency)
  let format = formats.get(currency)
  if (format === undefined) {
    const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits }
    format = new Intl.NumberFormat('en-GB', { style: 'currency', currency, ...decimals })
    formats.set(currency, format)
  }
  return format.format(amountMinor / 10 ** digits)
}

export type FormatMoney = typeof formatMoney
