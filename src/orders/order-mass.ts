/** Whether a stored mass equals a calculated one, exactly or after rounding. */
export function isSameMass(stored: number, calculated: number): boolean {
  const decimals = String(stored).split('.')[1]?.length ?? 0
  return Math.abs(stored - calculated) < 1e-9 || Number(calculated.toFixed(decimals)) === stored
}

/** Rounds to the gram, because no quantity of fuel is known more precisely. */
export const roundToGram = (kilograms: number): number => Math.round(kilograms * 1000) / 1000

/** The mass that an order offsets for a trip. A guest may offset more than the trip emits. */
export const getMassToOffset = (
  { checkout }: { checkout: { sharePercent: number } | null },
  tripKg: number,
): number => tripKg * ((checkout?.sharePercent ?? 100) / 100)
