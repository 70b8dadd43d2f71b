/**
 * Currencies whose minor unit is not a hundredth, by number of decimals (ISO 4217, list one). CLDR
 * and `Intl` have the decimals in common use instead, such as none for HUF and IDR.
 */
const EXCEPTIONS: [decimals: number, currencies: string][] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]
const DEFAULT_DECIMALS = 2

const decimals = new Map(
  EXCEPTIONS.flatMap(([digits, currencies]) =>
    currencies.split(' ').map((currency) => [currency, digits] as const),
  ),
)

/** The number of decimals of a currency: 2 for EUR, 0 for JPY, 3 for BHD. */
export const getMinorUnitDigits = (currency: string): number =>
  decimals.get(currency) ?? DEFAULT_DECIMALS
