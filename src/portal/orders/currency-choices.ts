import { CURRENCIES } from '../../validation/formats.js'

const COMMON = ['EUR', 'USD', 'GBP', 'CHF', 'NOK', 'SEK', 'DKK', 'JPY', 'AUD', 'CAD', 'SGD']

interface Choice {
  code: string
  label: string
}

/** The currencies to choose from, those in use and the common ones first, named for a reader. */
export function buildCurrencyChoices(
  inUse: string[],
  locale: string,
): Record<'first' | 'rest', Choice[]> {
  const names = new Intl.DisplayNames([locale], { type: 'currency' })
  const choice = (code: string): Choice => ({ code, label: `${code} – ${names.of(code) ?? code}` })
  const first = new Set([...inUse, ...COMMON])
  return {
    first: [...first].map(choice),
    rest: [...CURRENCIES].filter((code) => !first.has(code)).map(choice),
  }
}
