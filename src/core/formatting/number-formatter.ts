const NO_BREAK_SPACE = '\u00a0'
/** Maximum number of decimals that `decimal` writes. */
export const MAX_DECIMALS = 6
const MAX_CACHED_LOCALES = 50

/** Formats numbers with the digits, separators and percent sign of a locale (BCP 47 tag). */
export function createNumberFormatter(locale: string) {
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  const fourDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 })
  const allDigits = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 })
  const percent = new Intl.NumberFormat(locale, { style: 'percent' })
  const fixed = Array.from(
    { length: MAX_DECIMALS + 1 },
    (_, decimals) =>
      new Intl.NumberFormat(locale, {
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
      }),
  )
  const decimalSign: ',' | '.' =
    allDigits.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.'
  return {
    locale,
    decimalSign,
    /** Rounded to a whole number */
    whole: (value: number): string => whole.format(value),
    /** Rounded to four significant digits or, from 1,000, to a whole number */
    significant: (value: number): string =>
      value >= 1000 ? whole.format(value) : fourDigits.format(value),
    /** Every digit, without trailing zeros: for factors, limits and entered values */
    exact: (value: number): string => allDigits.format(value),
    /** Exactly `decimals` decimals, at most 6, so that columns align */
    decimal: (value: number, decimals: number): string =>
      (fixed[Math.min(decimals, MAX_DECIMALS)] ?? whole).format(value),
    /** A ratio (0 to 1) as a whole percentage */
    percent: (share: number): string => percent.format(share),
  }
}

export type NumberFormatter = ReturnType<typeof createNumberFormatter>

const cache = new Map<string, NumberFormatter>()

/** Same as `createNumberFormatter`, cached by locale because Intl constructors are slow. */
export function getNumberFormatter(locale: string): NumberFormatter {
  let formatter = cache.get(locale)
  if (formatter === undefined) {
    if (cache.size >= MAX_CACHED_LOCALES) cache.clear()
    formatter = createNumberFormatter(locale)
    cache.set(locale, formatter)
  }
  return formatter
}

/** A formatted number and its unit, kept on one line. */
export const withUnit = (value: string, unit: string): string => value + NO_BREAK_SPACE + unit

/** Formats the values of a page. */
export interface PageFormat {
  numbers: NumberFormatter
  /** Formats an ISO 8601 timestamp, depending on the page as a date, a time or both */
  time: (timestamp: string) => string
}

const MIN_TONNES_KG = 10_000

/**
 * The unit in which pages, emails and certificates show a mass. For a group of masses, pass the
 * largest one.
 */
export const toMassUnit = (kilograms: number): 'kg' | 't' =>
  Math.round(kilograms) < MIN_TONNES_KG ? 'kg' : 't'

/** Decimal places that show a mass in tonnes to the gram */
const TONNE_DIGITS = 6

/** A mass to the gram, in kg below ten tonnes and in tonnes otherwise. */
export const formatMass = (kilograms: number, numbers: NumberFormatter): string =>
  toMassUnit(kilograms) === 'kg'
    ? withUnit(numbers.exact(kilograms), 'kg')
    : withUnit(numbers.exact(Number((kilograms / 1000).toFixed(TONNE_DIGITS))), 't')

/** A mass rounded for people: to three digits, or to a whole number from 100. */
export function roundMass(kilograms: number, numbers: NumberFormatter) {
  const unit = toMassUnit(kilograms)
  const value = unit === 't' ? kilograms / 1000 : kilograms
  const rounded = value < 100 ? Number(value.toPrecision(3)) : Math.round(value)
  return { value: numbers.exact(rounded), unit }
}

/** Same as `roundMass`, as text. */
export function formatRoundedMass(kilograms: number, numbers: NumberFormatter): string {
  const { value, unit } = roundMass(kilograms, numbers)
  return withUnit(value, unit)
}

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
