import { describeTrip } from '../calculator/describe-trip.js'
import { validateCalculation } from '../calculator/validate-calculation.js'
import type { NumberFormatter } from '../formatting/number-formatter.js'
import type { Order } from '../orders/order.js'

/** The trip of an order in one line; `null` if it has no valid trip. */
export function describeOrderTrip(
  { calculatorType, calculatorData }: Order,
  numbers: NumberFormatter,
): string | null {
  if (calculatorType === null) return null
  const trip = validateCalculation(calculatorType, structuredClone(calculatorData))
  return trip.ok ? describeTrip(trip.value, numbers) : null
}
