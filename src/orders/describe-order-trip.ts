import type { Calculation } from '../calculator/calculator-data.js'
import { describeTrip } from '../calculator/describe-trip.js'
import { validateCalculation } from '../calculator/validate-calculation.js'
import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Order } from './order.js'
import type { Share } from './share.js'

/** The trip of an order; `null` if it has no valid trip. */
export function getOrderTrip({ calculatorType, calculatorData }: Order): Calculation | null {
  if (calculatorType === null) return null
  const trip = validateCalculation(calculatorType, structuredClone(calculatorData))
  return trip.ok ? trip.value : null
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
