import { formatMoney, getMinorUnitDigits } from '../../core/formatting/money-formatter.js'
import {
  formatUnambiguous,
  parseNumber,
  type ParsedNumber,
} from '../../core/formatting/number-input.js'
import { CURRENCIES } from '../../core/validation/formats.js'
import { Order } from '../order.js'

const MAX_AMOUNT_MINOR = Order.properties.amountMinor.maximum ?? Number.MAX_SAFE_INTEGER

/** Formats an amount for a form field: in major units, with all decimals of its currency. */
export function formatAmountInput(amountMinor: number, currency: string): string {
  const digits = getMinorUnitDigits(currency)
  return formatUnambiguous((amountMinor / 10 ** digits).toFixed(digits))
}

/**
 * Parses an amount in major units of a currency, with or without the currency; the value is in
 * minor units.
 */
export function parseAmount(text: string, currency: string): ParsedNumber {
  const digits = getMinorUnitDigits(currency)
  const symbol = formatMoney(0, currency)
    .replace(/[\d.,]/g, '')
    .trim()
    .toLowerCase()
  const units = [symbol, currency.toLowerCase(), ...(/\p{Sc}/u.exec(symbol) ?? [])]
  const parsed = parseNumber(text, { decimals: digits, units })
  if (!parsed.ok) return parsed
  const { value } = parsed
  const maximum = MAX_AMOUNT_MINOR / 10 ** digits
  if (value < 0) return { ok: false, message: 'must be at least 0' }
  if (value > maximum) return { ok: false, message: `must be at most ${maximum}` }
  if (Number(value.toFixed(digits)) !== value) {
    const message =
      digits === 0
        ? `must be a whole number: ${currency} has no decimals`
        : `must have at most ${digits} decimals in ${currency}`
    return { ok: false, message }
  }
  // Adding 0 turns -0 into 0.
  return { ...parsed, value: Math.round(value * 10 ** digits) + 0 }
}

const COMMON = ['EUR', 'USD', 'GBP', 'CHF', 'NOK', 'SEK', 'DKK', 'JPY', 'AUD', 'CAD', 'SGD']

/** The options of a currency field. Currencies in use and common ones come first. */
export function buildCurrencyChoices(inUse: string[], locale: string) {
  const names = new Intl.DisplayNames([locale], { type: 'currency' })
  const toChoice = (code: string) => ({
    code,
    label: `${code} – ${names.of(code) ?? code}`,
  })
  const first = new Set([...inUse, ...COMMON])
  return {
    first: [...first].map(toChoice),
    rest: [...CURRENCIES].filter((code) => !first.has(code)).map(toChoice),
  }
}
