const SMALL_KG = 10

/**
 * Rounds a mass in kg to the gram, because no quantity of fuel is known more precisely. Masses below
 * 10 kg keep six significant digits, so that small results can be recalculated.
 */
export const roundResult = (kilograms: number): number =>
  Math.abs(kilograms) < SMALL_KG
    ? Number(kilograms.toPrecision(6))
    : Math.round(kilograms * 1000) / 1000

/** Rounds each of several masses; unknown masses stay `null`. */
export function roundResults<T extends Record<keyof T, number | null>>(masses: T): T {
  const entries = Object.entries<number | null>(masses)
  return Object.fromEntries(
    entries.map(([name, kilograms]) => [name, kilograms === null ? null : roundResult(kilograms)]),
  ) as T
}
