import type {
  Calculation,
  CertifiedAs,
  DistanceData,
  FuelLine,
  LineUse,
} from './calculator-data.js'
import { isBurnt, type BurntFuelType } from './factors/editions.js'
import { isMassUnit, KILOGRAMS_PER, LITRES_PER, NAUTICAL_MILES_PER } from './units.js'

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

/** An amount of fuel, by volume or by mass. */
export type FuelAmount = { litres: number } | { kilograms: number }

/** A certified well-to-wake value, from the supplier's proof of sustainability. */
export interface FuelCertificate {
  gCo2ePerMj: number
  as: CertifiedAs
  reference: string | null
}

/** Fuel burnt, in base units. */
export interface BurntLine {
  use: LineUse | null
  fuelType: BurntFuelType
  amount: FuelAmount
  hvoPercent: number
  certificate: FuelCertificate | null
}

/** Electricity from shore. */
interface ElectricityLine {
  use: LineUse | null
  fuelType: 'electricity'
  kilowattHours: number
  kgCo2ePerKwh: number
  source: string
}

export type TripLine = BurntLine | ElectricityLine

/** A calculation from fuels and electricity. */
export type TripCalculation = Exclude<Calculation, { calculatorType: 'custom' }>

/** The engines and generators of a distance trip burn the same fuel, so they share one line. */
function toFirstLine({ calculatorType, calculatorData }: TripCalculation): FuelLine {
  if (calculatorType === 'fuel') return calculatorData
  const { engineLitres, generatorLitres } = calculateDistanceFuel(calculatorData)
  return { ...calculatorData, quantity: engineLitres + generatorLitres, unit: 'l' }
}

function toTripLine(line: FuelLine): TripLine {
  const { use = null, fuelType, quantity, unit, certifiedGCo2ePerMj } = line
  if (!isBurnt(fuelType) || unit === 'kWh') {
    return {
      use,
      fuelType: 'electricity',
      kilowattHours: quantity,
      kgCo2ePerKwh: line.kgCo2ePerKwh ?? 0,
      source: line.factorSource ?? '',
    }
  }
  return {
    use,
    fuelType,
    amount: isMassUnit(unit)
      ? { kilograms: quantity * KILOGRAMS_PER[unit] }
      : { litres: quantity * LITRES_PER[unit] },
    hvoPercent: line.hvoPercent ?? 0,
    certificate:
      certifiedGCo2ePerMj === undefined
        ? null
        : {
            gCo2ePerMj: certifiedGCo2ePerMj,
            as: line.certifiedAs ?? 'bio',
            reference: line.certificateReference ?? null,
          },
  }
}

/** The lines of a trip in base units: its own fuel first, then the further lines. */
export const getTripLines = (trip: TripCalculation): TripLine[] =>
  [toFirstLine(trip), ...(trip.calculatorData.furtherLines ?? [])].map(toTripLine)
