import type { Calculation } from '../calculator/calculator-data.js'
import { describeTrip } from '../calculator/describe-trip.js'
import { validateCalculation } from '../calculator/validate-calculation.js'
import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Order } from './order.js'

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
