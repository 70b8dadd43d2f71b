import type { Calculation } from '../calculator/calculator-data.js'
import { describeTrip } from '../calculator/describe-trip.js'
import { recordCalculation, type RecordedCalculation } from '../calculator/recorded-calculation.js'
import { validateCalculation } from '../calculator/validate-calculation.js'
import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import type { NewOrder, Order } from './order.js'
import { getSharedGrams, type Share } from './share.js'

type TripFields = Pick<NewOrder, 'calculatorType' | 'calculatorData'>

/** The trip of an order; `null` if it has no valid trip. */
export function getOrderTrip({ calculatorType, calculatorData }: TripFields): Calculation | null {
  if (calculatorType == null || calculatorData == null) return null
  const trip = validateCalculation(calculatorType, structuredClone(calculatorData))
  return trip.ok ? trip.value : null
}

/**
 * Calculates the emissions of an order's trip with the newest factor edition; `null` if the order
 * has no valid trip.
 */
export function calculateTrip(order: TripFields): RecordedCalculation | null {
  const trip = getOrderTrip(order)
  return trip && recordCalculation(trip)
}

/** The trip of an order in one line; `null` if it has no valid trip. */
export function describeOrderTrip(order: Order, numbers: NumberFormatter): string | null {
  const trip = getOrderTrip(order)
  return trip && describeTrip(trip, numbers)
}

const WHOLE = 100

/**
 * Describes a share of a trip, for example “50% of the trip”, “100% + 50% additional contribution”
 * or “the part of 2 of 8 guests”.
 *
 * @param guests on board; not a number if unknown
 */
export function describeShare(
  { sharePercent, forGuests }: Share,
  guests: unknown,
  { percent, exact }: NumberFormatter,
): string {
  if (forGuests != null) {
    const part = exact(forGuests)
    return typeof guests === 'number'
      ? `the part of ${part} of ${exact(guests)} guests`
      : `the part of ${part} guests`
  }
  const share = sharePercent ?? WHOLE
  return share > WHOLE
    ? `${percent(1)} + ${percent((share - WHOLE) / 100)} additional contribution`
    : `${percent(share / 100)} of the trip`
}

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
