import type {
  Calculation,
  CalculatorType,
  CustomData,
  DistanceData,
  FuelData,
} from './calculator-data.js'
import { DATASET } from './emission-factors.js'
import { fuelEmissions, type Factor } from './fuel-emissions.js'
import { isMassUnit, KILOGRAMS_PER, LITRES_PER, NAUTICAL_MILES_PER } from './units.js'

/** A calculator's result. Masses are kg CO2e; what a type has no value for is `null`. */
export interface Estimate {
  calculatorType: CalculatorType
  /** Well-to-wake: the sum of the two below */
  co2eKg: number
  wellToTankCo2eKg: number | null
  tankToWakeCo2eKg: number | null
  fuelLitres: number | null
  fuelKg: number | null
  hours: number | null
  method: string
  factors: Factor[]
  dataset: string
}

const WELL_TO_WAKE = 'Well-to-wake (ISO 14083): well-to-tank plus tank-to-wake, GWP100 of IPCC AR6'

export function estimateFuel(data: FuelData): Estimate {
  const amount = isMassUnit(data.unit)
    ? { kilograms: data.quantity * KILOGRAMS_PER[data.unit] }
    : { litres: data.quantity * LITRES_PER[data.unit] }
  return {
    calculatorType: 'fuel',
    ...fuelEmissions(data.fuelType, amount),
    hours: null,
    method: `${WELL_TO_WAKE}, from the fuel burnt`,
  }
}

/** How a distance trip's fuel comes about. Rates in litres an hour or a nautical mile, as entered. */
export interface DistanceSums {
  nauticalMiles: number
  hours: number
  /** `speed / reference speed`, to the power of 3 (per hour) or 2 (per nautical mile); 1 without one */
  speedFactor: number
  rate: number
  engineLitres: number
  generatorHours: number
  generatorLitres: number
}

/**
 * Power of a displacement hull goes with the cube of its speed (the propeller law), so fuel
 * an hour does too, and fuel a mile with the square. Generators do not care about speed.
 */
export function distanceSums(data: DistanceData): DistanceSums {
  const nauticalMiles = data.distance * NAUTICAL_MILES_PER[data.distanceUnit]
  const hours = nauticalMiles / data.speedKn
  const perHour = data.consumptionUnit === 'l/h'
  const ratio = data.speedKn / (data.referenceSpeedKn ?? data.speedKn)
  const speedFactor = ratio ** (perHour ? 3 : 2)
  const rate = data.consumption * speedFactor
  const generatorHours = data.generatorHours ?? hours
  return {
    nauticalMiles,
    hours,
    speedFactor,
    rate,
    engineLitres: rate * (perHour ? hours : nauticalMiles),
    generatorHours,
    generatorLitres: (data.generatorLitresPerHour ?? 0) * generatorHours,
  }
}

export function estimateDistance(data: DistanceData): Estimate {
  const sums = distanceSums(data)
  const scaled =
    data.referenceSpeedKn === undefined
      ? ''
      : ', scaled from the reference speed by the propeller law'
  return {
    calculatorType: 'distance',
    ...fuelEmissions(data.fuelType, { litres: sums.engineLitres + sums.generatorLitres }),
    hours: sums.hours,
    method: `${WELL_TO_WAKE}, from distance, speed and consumption${scaled}`,
  }
}

export function estimateCustom(data: CustomData): Estimate {
  return {
    calculatorType: 'custom',
    co2eKg: data.amount * KILOGRAMS_PER[data.unit],
    wellToTankCo2eKg: null,
    tankToWakeCo2eKg: null,
    fuelLitres: null,
    fuelKg: null,
    hours: null,
    method: 'The amount of CO2e as given; nothing is computed',
    factors: [],
    dataset: DATASET,
  }
}

/** The result of any calculator. Pure: the same data give the same result. */
export function estimate(calculation: Calculation): Estimate {
  switch (calculation.calculatorType) {
    case 'fuel':
      return estimateFuel(calculation.calculatorData)
    case 'distance':
      return estimateDistance(calculation.calculatorData)
    case 'custom':
      return estimateCustom(calculation.calculatorData)
  }
}
