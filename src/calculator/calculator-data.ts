import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { stringEnum } from '../validation/string-enum.js'
import { textLine } from '../validation/text-line.js'
import { FUEL_TYPES, type FuelType } from './emission-factors.js'
import { EXAMPLES } from './examples.js'
import { MAX_SPEED_KN, MAX_TRIP_HOURS } from './trip-plausibility.js'

/** Below this a result could round to zero. */
const LEAST = 1e-9

/** A number above zero; `maximum` keeps every result finite and of this world. */
const positive = (maximum: number, description: string) =>
  Type.Number({ exclusiveMinimum: 0, minimum: LEAST, maximum, description })

/** A number that may be zero, which is none. */
const notNegative = (maximum: number, description: string) =>
  Type.Number({ minimum: 0, maximum, description })

const closed = { additionalProperties: false } as const

export const QUANTITY_UNITS = ['l', 'm3', 'kg', 't', 'gal-us', 'gal-imp'] as const
export const DISTANCE_UNITS = ['nmi', 'km', 'mi'] as const
export const CONSUMPTION_UNITS = ['l/h', 'l/nmi'] as const
export const AMOUNT_UNITS = ['kg', 't'] as const

const fuelType = stringEnum<FuelType>(FUEL_TYPES, { description: 'Fuel, by id' })

export const FuelData = Type.Object(
  {
    fuelType,
    quantity: positive(10_000_000, 'Fuel burnt, in unit; at most 100,000 where that is m3 or t'),
    unit: stringEnum(QUANTITY_UNITS, { description: 'Unit of quantity' }),
  },
  {
    ...closed,
    title: 'Fuel calculator',
    // A thousand times the mass hides in the larger units, so they get the smaller bound.
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
    speedKn: positive(MAX_SPEED_KN, 'Mean speed, knots; the trip may last a year at most'),
    consumption: positive(
      100_000,
      'Fuel used by the engines under way, in consumptionUnit; at most 100,000 m3 in all',
    ),
    consumptionUnit: stringEnum(CONSUMPTION_UNITS, { description: 'Unit of consumption' }),
    referenceSpeedKn: Type.Optional(
      positive(
        MAX_SPEED_KN,
        'Speed at which consumption was measured, knots, within 4 times speedKn; the engines then follow the propeller law',
      ),
    ),
    generatorLitresPerHour: Type.Optional(
      notNegative(10_000, 'Fuel used by generators, litres an hour'),
    ),
    generatorHours: Type.Optional(
      notNegative(
        MAX_TRIP_HOURS,
        'Hours the generators ran, only with generatorLitresPerHour; without it, the hours under way',
      ),
    ),
  },
  {
    ...closed,
    title: 'Distance calculator',
    'x-plausible-trip': true,
    examples: [EXAMPLES.distance.calculatorData],
  },
)
export type DistanceData = Static<typeof DistanceData>

export const CustomData = Type.Object(
  {
    amount: positive(1_000_000_000, 'CO2e, in unit; at most 1,000,000 where that is t'),
    unit: stringEnum(AMOUNT_UNITS, { description: 'Unit of amount' }),
    description: Type.Optional(
      textLine({ maxLength: 120, description: 'What the amount stands for' }),
    ),
  },
  {
    ...closed,
    title: 'Custom amount',
    if: { properties: { unit: { const: 't' } }, required: ['unit'] },
    then: { properties: { amount: { maximum: 1_000_000 } } },
    examples: [EXAMPLES.custom.calculatorData],
  },
)
export type CustomData = Static<typeof CustomData>

/** What each calculator takes. */
export const CALCULATOR_DATA = {
  fuel: FuelData,
  distance: DistanceData,
  custom: CustomData,
} as const satisfies Record<string, TSchema>

export type CalculatorType = keyof typeof CALCULATOR_DATA
export const CALCULATOR_TYPES = Object.keys(CALCULATOR_DATA) as CalculatorType[]
export const CalculatorTypeSchema = stringEnum<CalculatorType>(CALCULATOR_TYPES, {
  description: 'Which calculator',
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
