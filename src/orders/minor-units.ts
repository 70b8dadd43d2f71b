/**
 * Currencies whose minor unit is not a hundredth, by how many decimals they have (ISO 4217, list
 * one). CLDR, and `Intl` with it, tells how many are usually written, which is none for HUF or IDR.
 */
const EXCEPTIONS: [decimals: number, currencies: string][] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]
const USUAL_DECIMALS = 2

const decimals = new Map(
  EXCEPTIONS.flatMap(([digits, currencies]) =>
    currencies.split(' ').map((currency) => [currency, digits] as const),
  ),
)

/** How many decimals a currency's major unit has: 2 for EUR, 0 for JPY, 3 for BHD. */
export const getMinorUnitDigits = (currency: string): number =>
  decimals.get(currency) ?? USUAL_DECIMALS
