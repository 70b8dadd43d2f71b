/**
 * Currencies whose minor unit is not a hundredth, by number of decimals (ISO 4217, list one). CLDR
 * and `Intl` have the decimals in common use instead, such as none for HUF and IDR.
 */
export const UNUSUAL_MINOR_UNITS: readonly { decimals: number; currencies: string[] }[] = [
  {
    decimals: 0,
    currencies: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' '),
  },
  { decimals: 3, currencies: ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'] },
  { decimals: 4, currencies: ['CLF', 'UYW'] },
]

/** The number of decimals of all other currencies. */
export const USUAL_DECIMALS = 2

const decimalsByCurrency = new Map(
  UNUSUAL_MINOR_UNITS.flatMap(({ decimals, currencies }) =>
    currencies.map((currency) => [currency, decimals] as const),
  ),
)

/** The number of decimals of a currency: 2 for EUR, 0 for JPY, 3 for BHD. */
export const getMinorUnitDigits = (currency: string): number =>
  decimalsByCurrency.get(currency) ?? USUAL_DECIMALS

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
