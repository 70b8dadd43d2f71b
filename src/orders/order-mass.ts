import { getSharedGrams } from './share.js'
import type { Order } from './order.js'

/** Whether a stored mass equals a calculated one, exactly or after rounding. */
export function isSameMass(stored: number, calculated: number): boolean {
  const decimals = String(stored).split('.')[1]?.length ?? 0
  return Math.abs(stored - calculated) < 1e-9 || Number(calculated.toFixed(decimals)) === stored
}

/** Rounds to the gram, because no quantity of fuel is known more precisely. */
export const roundToGram = (kilograms: number): number => Math.round(kilograms * 1000) / 1000

/**
 * The mass of credits that an order is for, kg. A guest may buy credits for a part of the trip's
 * emissions, or for more than the trip emits.
 */
export function getMassToOffset(
  { checkout, calculatorData }: Pick<Order, 'checkout' | 'calculatorData'>,
  tripKg: number,
): number {
  if (checkout === null) return tripKg
  const { sharePercent, forGuests } = checkout
  if (forGuests == null) return tripKg * ((sharePercent ?? 100) / 100)
  const guests = Number(calculatorData?.guests ?? forGuests)
  return getSharedGrams(tripKg, checkout, guests) / 1000
}
