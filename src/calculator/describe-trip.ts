import { withUnit, type NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Calculation } from './calculator-data.js'
import { getFuelName } from './factors/editions.js'
import { UNIT_SYMBOLS } from './units.js'

/** A trip in one line: `500 l, Marine diesel / gas oil`, `120 nmi at 10 knots`, `1.5 t CO₂e`. */
export function describeTrip(
  { calculatorType, calculatorData }: Calculation,
  numbers: NumberFormatter,
): string {
  switch (calculatorType) {
    case 'fuel': {
      const { quantity, unit, fuelType } = calculatorData
      return `${withUnit(numbers.exact(quantity), UNIT_SYMBOLS[unit])}, ${getFuelName(fuelType)}`
    }
    case 'distance': {
      const { distance, distanceUnit, speedKn } = calculatorData
      const speed = withUnit(numbers.exact(speedKn), 'knots')
      return `${withUnit(numbers.exact(distance), UNIT_SYMBOLS[distanceUnit])} at ${speed}`
    }
    case 'custom':
      return `${withUnit(numbers.exact(calculatorData.amount), calculatorData.unit)} CO₂e`
  }
}
