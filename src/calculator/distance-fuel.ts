import type { DistanceData } from './calculator-data.js'
import { NAUTICAL_MILES_PER } from './units.js'

/** How a distance trip's fuel comes about. Rates in litres an hour or a nautical mile, as entered. */
export interface DistanceFuel {
  nauticalMiles: number
  hours: number
  rate: number
  engineLitres: number
  generatorHours: number
  generatorLitres: number
}

/**
 * Power of a displacement hull goes with the cube of its speed (the propeller law), so fuel
 * an hour does too, and fuel a mile with the square. Generators do not care about speed.
 */
export function calculateDistanceFuel(data: Omit<DistanceData, 'fuelType'>): DistanceFuel {
  const nauticalMiles = data.distance * NAUTICAL_MILES_PER[data.distanceUnit]
  const hours = nauticalMiles / data.speedKn
  const perHour = data.consumptionUnit === 'l/h'
  const ratio = data.speedKn / (data.referenceSpeedKn ?? data.speedKn)
  const rate = data.consumption * ratio ** (perHour ? 3 : 2)
  const generatorHours = data.generatorHours ?? hours
  return {
    nauticalMiles,
    hours,
    rate,
    engineLitres: rate * (perHour ? hours : nauticalMiles),
    generatorHours,
    generatorLitres: (data.generatorLitresPerHour ?? 0) * generatorHours,
  }
}
