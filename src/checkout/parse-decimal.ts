const DECIMAL = /^(\d{1,15})(?:\.(\d+))?$/

/**
 * Parses a decimal number in plain digits, such as `24.50`, as a whole number of units of
 * 10^-`digits`, such as the minor units of a currency. Does not round: returns `null` if the text
 * is not a number, has more decimals, or is too large.
 */
export function parseDecimal(text: string, digits: number): number | null {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole === undefined || fraction.length > digits) return null
  const units = Number(whole + fraction.padEnd(digits, '0'))
  return Number.isSafeInteger(units) ? units : null
}
