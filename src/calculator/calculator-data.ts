import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { stringEnum } from '../validation/string-enum.js'
import { textLine } from '../validation/text-line.js'
import { FUEL_TYPES, type FuelType } from './emission-factors.js'
import { EXAMPLES } from './examples.js'
import { MAX_SPEED_KN, MAX_TRIP_HOURS } from './trip-limits.js'

/** Smaller values could give a result that rounds to zero. */
const MIN_POSITIVE = 1e-9

/** A number above zero; `maximum` keeps every result finite and plausible. */
const positive = (maximum: number, description: string) =>
  Type.Number({ exclusiveMinimum: 0, minimum: MIN_POSITIVE, maximum, description })

const nonNegative = (maximum: number, description: string) =>
  Type.Number({ minimum: 0, maximum, description })

const strict = { additionalProperties: false } as const

export const QUANTITY_UNITS = ['l', 'm3', 'kg', 't', 'gal-us', 'gal-imp'] as const
export const DISTANCE_UNITS = ['nmi', 'km', 'mi'] as const
export const CONSUMPTION_UNITS = ['l/h', 'l/nmi'] as const
export const AMOUNT_UNITS = ['kg', 't'] as const

const fuelType = stringEnum<FuelType>(FUEL_TYPES, { description: 'Fuel id' })

export const FuelData = Type.Object(
  {
    fuelType,
    quantity: positive(10_000_000, 'Fuel burnt, in unit; at most 100,000 if unit is m3 or t'),
    unit: stringEnum(QUANTITY_UNITS, { description: 'Unit of quantity' }),
  },
  {
    ...strict,
    title: 'Fuel calculator',
    // m3 and t hold about a thousand times the mass of the other units.
    if: { properties: { unit: { enum: ['m3', 't'] } }, required: ['unit'] },
    then: { properties: { quantity: { maximum: 100_000 } } },
    examples: [EXAMPLES.fuel.calculatorData],
  },
)
export type FuelData = Static<typeof FuelData>

export const DistanceData = Type.Object(
  {
    fuelType,
    distance: positive(100_000, 'Distance sailed, in distanceUnit'),
    distanceUnit: stringEnum(DISTANCE_UNITS, { description: 'Unit of distance' }),
    speedKn: positive(MAX_SPEED_KN, 'Average speed, knots; the trip may last at most a year'),
    consumption: positive(
      100_000,
      'Fuel consumption of the engines under way, in consumptionUnit; at most 100,000 m3 for the trip',
    ),
    consumptionUnit: stringEnum(CONSUMPTION_UNITS, { description: 'Unit of consumption' }),
    referenceSpeedKn: Type.Optional(
      positive(
        MAX_SPEED_KN,
        'Speed at which consumption was measured, knots, between a quarter of and 4 times speedKn; consumption is then scaled by the propeller law',
      ),
    ),
    generatorLitresPerHour: Type.Optional(
      nonNegative(10_000, 'Fuel consumption of the generators, litres per hour'),
    ),
    generatorHours: Type.Optional(
      nonNegative(
        MAX_TRIP_HOURS,
        'Hours the generators ran; requires generatorLitresPerHour. Defaults to the hours under way',
      ),
    ),
  },
  {
    ...strict,
    title: 'Distance calculator',
    'x-plausible-trip': true,
    examples: [EXAMPLES.distance.calculatorData],
  },
)
export type DistanceData = Static<typeof DistanceData>

export const CustomData = Type.Object(
  {
    amount: positive(1_000_000_000, 'CO2e, in unit; at most 1,000,000 if unit is t'),
    unit: stringEnum(AMOUNT_UNITS, { description: 'Unit of amount' }),
    description: Type.Optional(
      textLine({ maxLength: 120, description: 'Description of the amount' }),
    ),
  },
  {
    ...strict,
    title: 'Custom amount',
    if: { properties: { unit: { const: 't' } }, required: ['unit'] },
    then: { properties: { amount: { maximum: 1_000_000 } } },
    examples: [EXAMPLES.custom.calculatorData],
  },
)
export type CustomData = Static<typeof CustomData>

/** The schema of each calculator's data. */
export const CALCULATOR_DATA = {
  fuel: FuelData,
  distance: DistanceData,
  custom: CustomData,
} as const satisfies Record<string, TSchema>

export type CalculatorType = keyof typeof CALCULATOR_DATA
export const CALCULATOR_TYPES = Object.keys(CALCULATOR_DATA) as CalculatorType[]
export const CalculatorTypeSchema = stringEnum<CalculatorType>(CALCULATOR_TYPES, {
  description: 'Calculator type',
})

export const isCalculatorType = (text: string): text is CalculatorType =>
  Object.hasOwn(CALCULATOR_DATA, text)

export type CalculatorDataByType = {
  [T in CalculatorType]: Static<(typeof CALCULATOR_DATA)[T]>
}

/** A calculator together with its data. */
export type Calculation = {
  [T in CalculatorType]: { calculatorType: T; calculatorData: CalculatorDataByType[T] }
}[CalculatorType]
