import { parseNumber, formatUnambiguous, type ParsedNumber } from '../../formatting/number-input.js'
import { getMinorUnitDigits } from '../../orders/minor-units.js'
import { Order } from '../../orders/order.js'

const MOST_MINOR = Order.properties.amountMinor.maximum ?? Number.MAX_SAFE_INTEGER

/** An amount as one types it: in major units, with all the decimals of its currency. */
export function formatAmountInput(amountMinor: number, currency: string): string {
  const digits = getMinorUnitDigits(currency)
  return formatUnambiguous((amountMinor / 10 ** digits).toFixed(digits))
}

/** Reads an amount as people type it, in major units of a currency, as its minor units. */
export function parseAmount(text: string, currency: string): ParsedNumber {
  const digits = getMinorUnitDigits(currency)
  const parsed = parseNumber(text, digits)
  if (!parsed.ok) return parsed
  const { value } = parsed
  const most = MOST_MINOR / 10 ** digits
  if (value < 0) return { ok: false, message: 'must be at least 0' }
  if (value > most) return { ok: false, message: `must be at most ${most}` }
  if (Number(value.toFixed(digits)) !== value) {
    const message =
      digits === 0
        ? `must be a whole number: ${currency} has no decimals`
        : `must have at most ${digits} decimals in ${currency}`
    return { ok: false, message }
  }
  // Minus nothing is nothing.
  return { ok: true, value: Math.round(value * 10 ** digits) + 0 }
}
