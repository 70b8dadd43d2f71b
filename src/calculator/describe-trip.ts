import { withUnit, type NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Calculation, LineUse } from './calculator-data.js'
import { getFuelName, type FuelType } from './factors/editions.js'
import { UNIT_SYMBOLS } from './units.js'

/** Shorter names than those of the emission factors. */
const PLAIN_FUEL_NAMES: Partial<Record<FuelType, string>> = {
  mgo: 'Marine diesel',
  petrol: 'Petrol',
  'petrol-blend': 'Petrol with bioethanol',
  'diesel-road': 'Road diesel',
}

/** The name of a fuel in forms and descriptions. Results name the fuel whose factors they use. */
export const getPlainFuelName = (fuelType: FuelType): string =>
  PLAIN_FUEL_NAMES[fuelType] ?? getFuelName(fuelType)

/** A trip in one line: `500 l, Marine diesel`, `120 nmi at 10 knots`, `1.5 t CO₂e`. */
export function describeTrip(
  { calculatorType, calculatorData }: Calculation,
  numbers: NumberFormatter,
): string {
  switch (calculatorType) {
    case 'fuel': {
      const { quantity, unit, fuelType } = calculatorData
      return `${withUnit(numbers.exact(quantity), UNIT_SYMBOLS[unit])}, ${getPlainFuelName(fuelType)}`
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

export const USE_NAMES: Record<LineUse, string> = {
  engines: 'Engines',
  generators: 'Generators',
  boilers: 'Boilers',
  tender: 'Tender',
  'shore-power': 'Shore power',
  other: 'Other',
}

interface NamedLine {
  use: LineUse | null
  fuelType: FuelType
  hvoPercent?: number | null
}

/** `Generators: Marine diesel / gas oil with 30% HVO` */
export function getLineName({ use, fuelType, hvoPercent }: NamedLine): string {
  const blend = hvoPercent ? ` with ${hvoPercent}% HVO` : ''
  return `${use === null ? '' : `${USE_NAMES[use]}: `}${getFuelName(fuelType)}${blend}`
}
