import { Type, type Static } from '@sinclair/typebox'
import {
  CalculatorTypeSchema,
  type Calculation,
  type CustomData,
  type DistanceData,
  type FuelData,
} from './calculator-data.js'
import { calculateDistanceFuel } from './distance-fuel.js'
import { DATASET, type FuelType } from './emission-factors.js'
import { Factor, FACTORS, calculateFuelEmissions } from './fuel-emissions.js'
import { isMassUnit, KILOGRAMS_PER, KILOMETRES_PER, LITRES_PER } from './units.js'

const nullableNumber = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description })

/** A calculator's result. Values that do not apply to a type are `null`. */
export const Estimate = Type.Object(
  {
    calculatorType: CalculatorTypeSchema,
    co2eKg: Type.Number({ description: 'Well-to-wake, kg CO2e' }),
    wellToTankCo2eKg: nullableNumber('Part from producing and supplying the fuel, kg CO2e'),
    tankToWakeCo2eKg: nullableNumber('Part from burning the fuel, kg CO2e'),
    fuelLitres: nullableNumber('Fuel burnt, litres'),
    fuelKg: nullableNumber('Fuel burnt, kg'),
    hours: nullableNumber('Time under way, hours'),
    method: Type.String({ description: 'Calculation method' }),
    factors: Type.Array(Factor, { description: 'Every published number used' }),
    dataset: Type.String({ description: 'Name of the factor set' }),
  },
  { title: 'Estimate', description: 'Estimated emissions' },
)
export type Estimate = Static<typeof Estimate>

const WELL_TO_WAKE = 'Well-to-wake (ISO 14083): well-to-tank plus tank-to-wake, GWP100 of IPCC AR6'

const KILOMETRES_IN_NAUTICAL_MILE: Factor = {
  name: 'Kilometres in a nautical mile',
  value: KILOMETRES_PER.nmi,
  unit: 'km/nmi',
  source: 'exact (SI Brochure, table 8)',
}

/** Conversion factors listed with the result; tonnes and cubic metres need none. */
const CONVERSIONS: Partial<Record<string, Factor>> = {
  'gal-us': {
    name: 'Litres in a US gallon',
    value: LITRES_PER['gal-us'],
    unit: 'l/gal',
    source: 'exact (NIST Handbook 44, appendix C)',
  },
  'gal-imp': {
    name: 'Litres in an imperial gallon',
    value: LITRES_PER['gal-imp'],
    unit: 'l/gal',
    source: 'exact (UK Units of Measurement Regulations 1995)',
  },
  km: KILOMETRES_IN_NAUTICAL_MILE,
  mi: {
    name: 'Kilometres in a mile',
    value: 1.609344,
    unit: 'km/mi',
    source: 'exact (international yard and pound agreement 1959)',
  },
}

const listFactors = (fuelType: FuelType, ...units: string[]): Factor[] => [
  ...units.flatMap((unit) => CONVERSIONS[unit] ?? []),
  ...FACTORS[fuelType],
]

function estimateFuel(data: FuelData): Estimate {
  const amount = isMassUnit(data.unit)
    ? { kilograms: data.quantity * KILOGRAMS_PER[data.unit] }
    : { litres: data.quantity * LITRES_PER[data.unit] }
  const emissions = calculateFuelEmissions(data.fuelType, amount)
  return {
    calculatorType: 'fuel',
    ...emissions,
    factors: listFactors(data.fuelType, data.unit),
    hours: null,
    method: `${WELL_TO_WAKE}, from the fuel burnt`,
  }
}

function estimateDistance(data: DistanceData): Estimate {
  const fuel = calculateDistanceFuel(data)
  const scaling =
    data.referenceSpeedKn === undefined
      ? ''
      : ', scaled from the reference speed by the propeller law'
  const emissions = calculateFuelEmissions(data.fuelType, {
    litres: fuel.engineLitres + fuel.generatorLitres,
  })
  const distanceUnits = data.distanceUnit === 'mi' ? ['mi', 'km'] : [data.distanceUnit]
  return {
    calculatorType: 'distance',
    ...emissions,
    factors: listFactors(data.fuelType, ...distanceUnits),
    hours: fuel.hours,
    method: `${WELL_TO_WAKE}, from distance, speed and consumption${scaling}`,
  }
}

function estimateCustom(data: CustomData): Estimate {
  return {
    calculatorType: 'custom',
    co2eKg: data.amount * KILOGRAMS_PER[data.unit],
    wellToTankCo2eKg: null,
    tankToWakeCo2eKg: null,
    fuelLitres: null,
    fuelKg: null,
    hours: null,
    method: 'CO2e as entered, without calculation',
    factors: [],
    dataset: DATASET,
  }
}

/** Calculates the emissions of a trip; masses in kg CO2e. Pure. */
export function calculateEstimate(calculation: Calculation): Estimate {
  switch (calculation.calculatorType) {
    case 'fuel':
      return estimateFuel(calculation.calculatorData)
    case 'distance':
      return estimateDistance(calculation.calculatorData)
    case 'custom':
      return estimateCustom(calculation.calculatorData)
  }
}
