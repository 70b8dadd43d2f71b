import type { DistanceData } from './calculator-data.js'
import { NAUTICAL_MILES_PER } from './units.js'

/**
 * Propeller law: the power of a displacement hull is proportional to the cube of its speed, so fuel
 * per hour scales with the cube and fuel per mile with the square. Generators do not scale.
 */
export function calculateDistanceFuel(data: Omit<DistanceData, 'fuelType'>) {
  const nauticalMiles = data.distance * NAUTICAL_MILES_PER[data.distanceUnit]
  const hours = nauticalMiles / data.speedKn
  const isPerHour = data.consumptionUnit === 'l/h'
  const ratio = data.speedKn / (data.referenceSpeedKn ?? data.speedKn)
  const rate = data.consumption * ratio ** (isPerHour ? 3 : 2)
  const generatorHours = data.generatorHours ?? hours
  return {
    nauticalMiles,
    hours,
    /** Engine consumption at the trip's speed, in the entered unit (litres per hour or per nmi) */
    rate,
    engineLitres: rate * (isPerHour ? hours : nauticalMiles),
    generatorHours,
    generatorLitres: (data.generatorLitresPerHour ?? 0) * generatorHours,
  }
}
