import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { stringEnum } from '../core/validation/formats.js'
import { textLine } from '../core/validation/text-rules.js'
import { FrameworkSchema } from './factors/edition.js'
import {
  BURNT_FUEL_TYPES,
  FUEL_TYPES,
  VLSFO_HINT,
  type BurntFuelType,
  type FuelType,
} from './factors/editions.js'

/** A typical trip for each calculator, used by the API documentation, the QR test page and the demo. */
export const EXAMPLES = {
  fuel: {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  },
  distance: {
    calculatorType: 'distance',
    calculatorData: {
      fuelType: 'mgo',
      distance: 120,
      distanceUnit: 'nmi',
      speedKn: 10,
      consumption: 60,
      consumptionUnit: 'l/h',
    },
  },
  custom: { calculatorType: 'custom', calculatorData: { amount: 1.5, unit: 't' } },
} as const

/** Higher than the speed of any vessel, in knots */
export const MAX_SPEED_KN = 100

/** The hours of a leap year */
export const MAX_TRIP_HOURS = 8_784

/** Smaller values could give a result that rounds to zero. */
const MIN_POSITIVE = 1e-9

/** A number above zero; `maximum` keeps every result finite and plausible. */
const positive = (maximum: number, description: string) =>
  Type.Number({ exclusiveMinimum: 0, minimum: MIN_POSITIVE, maximum, description })

const nonNegative = (maximum: number, description: string) =>
  Type.Number({ minimum: 0, maximum, description })

const strict = { additionalProperties: false } as const

/** `kWh` is for electricity only. */
export const QUANTITY_UNITS = ['l', 'm3', 'kg', 't', 'gal-us', 'gal-imp', 'kWh'] as const
export const DISTANCE_UNITS = ['nmi', 'km', 'mi'] as const
export const CONSUMPTION_UNITS = ['l/h', 'l/nmi'] as const
export const AMOUNT_UNITS = ['kg', 't'] as const

/** What burns the fuel or uses the electricity. */
export const LINE_USES = [
  'engines',
  'generators',
  'boilers',
  'tender',
  'shore-power',
  'other',
] as const
export type LineUse = (typeof LINE_USES)[number]

export const MAX_FURTHER_LINES = 6

/** How a hull moves through the water. */
export const HULL_TYPES = ['displacement', 'planing'] as const
export type HullType = (typeof HULL_TYPES)[number]

/** What a certified fuel is: a biofuel, or an e-fuel (renewable fuel of non-biological origin). */
export const CERTIFIED_AS = ['bio', 'rfnbo'] as const
export type CertifiedAs = (typeof CERTIFIED_AS)[number]

/** The fuels that may have a certified value, and as what. */
export const CERTIFIABLE: ReadonlyMap<unknown, readonly CertifiedAs[]> = new Map<
  FuelType,
  readonly CertifiedAs[]
>([
  ['hvo', ['bio']],
  ['fame', ['bio']],
  ['methanol', CERTIFIED_AS],
  ['lng', CERTIFIED_AS],
  ['lng-otto-slow', CERTIFIED_AS],
  ['lng-diesel-slow', CERTIFIED_AS],
  ['lng-lean-burn', CERTIFIED_AS],
])

/** Marine gas oil may be blended with HVO, and some fuels may have a certified value. */
const biofuelFields = {
  hvoPercent: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      minimum: MIN_POSITIVE,
      maximum: 100,
      description:
        'Share of HVO blended into marine gas oil, % by volume. Marine fuels sold as B30 contain FAME: enter them as two lines, mgo and fame',
    }),
  ),
  certifiedGCo2ePerMj: Type.Optional(
    nonNegative(
      200,
      "Certified well-to-wake emissions of the biofuel or e-fuel, g CO2e/MJ, from the supplier's proof of sustainability; replaces the published well-to-tank factor. Required for fame",
    ),
  ),
  certifiedAs: Type.Optional(
    stringEnum<CertifiedAs>(CERTIFIED_AS, {
      description:
        'What the certified fuel is: bio (biofuel) or rfnbo (e-fuel). Required with a certified value for methanol and LNG; hvo and fame are always bio',
    }),
  ),
  certificateReference: Type.Optional(
    textLine({
      maxLength: 120,
      description:
        'Number of the proof of sustainability, and its scheme; without it, a certified value gives a warning',
    }),
  ),
}

const FUEL_DESCRIPTION = `Fuel ID. ${VLSFO_HINT}`

const fuelFields = {
  fuelType: stringEnum<FuelType>(FUEL_TYPES, { description: FUEL_DESCRIPTION }),
  quantity: positive(
    10_000_000,
    'Fuel burnt or electricity used, in unit; at most 100,000 if unit is m3 or t',
  ),
  unit: stringEnum(QUANTITY_UNITS, {
    description: 'Unit of quantity: kWh for electricity, any other unit for fuels',
  }),
  ...biofuelFields,
  kgCo2ePerKwh: Type.Optional(
    nonNegative(
      5,
      'Emission factor of the electricity, kg CO2e/kWh; required for electricity. 0 for certified renewable electricity',
    ),
  ),
  factorSource: Type.Optional(
    textLine({ maxLength: 80, description: 'Source of kgCo2ePerKwh; required for electricity' }),
  ),
}

const quantityRules = {
  'x-fuel-line': true,
  // A lower limit, because m3 and t are a thousand times larger than litres and kg.
  if: { properties: { unit: { enum: ['m3', 't'] } }, required: ['unit'] },
  then: { properties: { quantity: { maximum: 100_000 } } },
}

/** A further fuel used on a trip, or electricity from shore. */
export const FuelLine = Type.Object(
  {
    use: Type.Optional(stringEnum(LINE_USES, { description: 'What burns the fuel' })),
    ...fuelFields,
  },
  { ...strict, title: 'Line of a trip', ...quantityRules },
)
export type FuelLine = Static<typeof FuelLine>

const furtherLines = Type.Optional(
  Type.Array(FuelLine, {
    maxItems: MAX_FURTHER_LINES,
    description: 'Further fuels of the trip, and shore power',
  }),
)

const guests = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 100_000,
    description: 'Guests on board, for the emissions per person',
  }),
)

const framework = Type.Optional(FrameworkSchema)

export const FuelData = Type.Object(
  { ...fuelFields, furtherLines, guests, framework },
  {
    ...strict,
    title: 'Fuel calculator',
    ...quantityRules,
    examples: [EXAMPLES.fuel.calculatorData],
  },
)
export type FuelData = Static<typeof FuelData>

export const DistanceData = Type.Object(
  {
    fuelType: stringEnum<BurntFuelType>(BURNT_FUEL_TYPES, { description: FUEL_DESCRIPTION }),
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
        'Speed at which consumption was measured, knots, from a quarter of speedKn to 4 times speedKn; consumption is then scaled by the propeller law. Not for planing hulls',
      ),
    ),
    hullType: Type.Optional(
      stringEnum<HullType>(HULL_TYPES, {
        description: 'displacement (default) or planing, which takes no referenceSpeedKn',
      }),
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
    ...biofuelFields,
    furtherLines,
    guests,
    framework,
  },
  {
    ...strict,
    title: 'Distance calculator',
    'x-fuel-line': true,
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
    guests,
    framework,
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
