import { CURRENCIES } from '../../core/validation/formats.js'

const COMMON = ['EUR', 'USD', 'GBP', 'CHF', 'NOK', 'SEK', 'DKK', 'JPY', 'AUD', 'CAD', 'SGD']

interface Choice {
  code: string
  label: string
}

/** The options of a currency field. Currencies in use and common ones come first. */
export function buildCurrencyChoices(
  inUse: string[],
  locale: string,
): Record<'first' | 'rest', Choice[]> {
  const names = new Intl.DisplayNames([locale], { type: 'currency' })
  const toChoice = (code: string): Choice => ({
    code,
    label: `${code} – ${names.of(code) ?? code}`,
  })
  const first = new Set([...inUse, ...COMMON])
  return {
    first: [...first].map(toChoice),
    rest: [...CURRENCIES].filter((code) => !first.has(code)).map(toChoice),
  }
}
