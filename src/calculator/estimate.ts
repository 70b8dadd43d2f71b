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

/** A calculator's result. What a type has no value for is `null`. */
export const Estimate = Type.Object(
  {
    calculatorType: CalculatorTypeSchema,
    co2eKg: Type.Number({ description: 'Well-to-wake, kg CO2e' }),
    wellToTankCo2eKg: nullableNumber('Of which making and moving the fuel, kg CO2e'),
    tankToWakeCo2eKg: nullableNumber('Of which burning the fuel, kg CO2e'),
    fuelLitres: nullableNumber('Fuel burnt, litres'),
    fuelKg: nullableNumber('Fuel burnt, kg'),
    hours: nullableNumber('Time under way, hours'),
    method: Type.String({ description: 'How the result comes about' }),
    factors: Type.Array(Factor, { description: 'Every published number used' }),
    dataset: Type.String({ description: 'The set of factors' }),
  },
  { title: 'Estimate', description: 'The result' },
)
export type Estimate = Static<typeof Estimate>

const WELL_TO_WAKE = 'Well-to-wake (ISO 14083): well-to-tank plus tank-to-wake, GWP100 of IPCC AR6'

const KILOMETRES_IN_NAUTICAL_MILE: Factor = {
  name: 'Kilometres in a nautical mile',
  value: KILOMETRES_PER.nmi,
  unit: 'km/nmi',
  source: 'exact (SI Brochure, table 8)',
}

/** Conversions that a person redoing the sum has to look up; tonnes and cubic metres need none. */
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

const lists = new Map<string, Factor[]>()

/** Every published number used; for the same fuel and units, the same list each time. */
function factorsUsed(fuelType: FuelType, ...units: string[]): Factor[] {
  const key = [fuelType, ...units].join(' ')
  let list = lists.get(key)
  if (list === undefined) {
    list = [...units.flatMap((unit) => CONVERSIONS[unit] ?? []), ...FACTORS[fuelType]]
    // Others have it, too.
    Object.freeze(list)
    lists.set(key, list)
  }
  return list
}

/** From fuel burnt. */
function estimateFuel(data: FuelData): Estimate {
  const amount = isMassUnit(data.unit)
    ? { kilograms: data.quantity * KILOGRAMS_PER[data.unit] }
    : { litres: data.quantity * LITRES_PER[data.unit] }
  const emissions = calculateFuelEmissions(data.fuelType, amount)
  return {
    calculatorType: 'fuel',
    ...emissions,
    factors: factorsUsed(data.fuelType, data.unit),
    hours: null,
    method: `${WELL_TO_WAKE}, from the fuel burnt`,
  }
}

/** From distance, speed and consumption. */
function estimateDistance(data: DistanceData): Estimate {
  const sums = calculateDistanceFuel(data)
  const scaled =
    data.referenceSpeedKn === undefined
      ? ''
      : ', scaled from the reference speed by the propeller law'
  const emissions = calculateFuelEmissions(data.fuelType, {
    litres: sums.engineLitres + sums.generatorLitres,
  })
  const miles = data.distanceUnit === 'mi' ? ['mi', 'km'] : [data.distanceUnit]
  return {
    calculatorType: 'distance',
    ...emissions,
    factors: factorsUsed(data.fuelType, ...miles),
    hours: sums.hours,
    method: `${WELL_TO_WAKE}, from distance, speed and consumption${scaled}`,
  }
}

/** As given. */
function estimateCustom(data: CustomData): Estimate {
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
