const digits = new Map<string, number>()

/** How many decimals a currency's major unit has: 2 for EUR, 0 for JPY, 3 for BHD. */
export function minorUnitDigits(currency: string): number {
  let known = digits.get(currency)
  if (known === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    known = format.resolvedOptions().maximumFractionDigits ?? 2
    digits.set(currency, known)
  }
  return known
}
