import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../core/validation/formats.js'
import { CalculatorTypeSchema, LINE_USES, type LineUse } from './calculator-data.js'
import { FrameworkSchema } from './factors/edition.js'
import { FUEL_TYPES } from './factors/editions.js'

const nullableNumber = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description })

const emissions = {
  co2eKg: Type.Number({ description: 'Well-to-wake, kg CO2e' }),
  wellToTankCo2eKg: nullableNumber('Emissions from producing and supplying the fuel, kg CO2e'),
  tankToWakeCo2eKg: nullableNumber('Emissions from burning the fuel, kg CO2e'),
}
const fuel = {
  fuelLitres: nullableNumber('Fuel burnt, litres'),
  fuelKg: nullableNumber('Fuel burnt, kg'),
}

/** A number used in a calculation, and where it was published. */
export const Factor = Type.Object(
  {
    name: Type.String(),
    value: Type.Number(),
    unit: Type.String(),
    source: Type.String({ description: 'Publication that states the number' }),
    location: Type.Optional(Type.String({ description: 'Table, row and column' })),
    retrieved: Type.Optional(Type.String({ description: 'Date of retrieval' })),
    gwp: Type.Optional(
      stringEnum(['AR4', 'AR5', 'AR6'], {
        description: 'IPCC assessment report whose GWP100 values a CO2e value is based on',
      }),
    ),
    unverified: Type.Optional(
      Type.Boolean({ description: 'Whether the number has not been confirmed by a second source' }),
    ),
    fuelType: Type.Optional(Type.String({ description: 'Fuel that the number belongs to' })),
    line: Type.Optional(
      Type.Integer({ description: 'Line that the value was entered for, counting from 1' }),
    ),
  },
  { title: 'Emission factor' },
)
export type Factor = Static<typeof Factor>

export const EstimateWarning = Type.Object(
  {
    code: stringEnum(
      [
        'generator_hours_assumed',
        'speed_outside_reference',
        'certificate_reference_missing',
        'shore_power_not_electric',
      ],
      { description: 'What the warning is about' },
    ),
    path: Type.String({ description: 'Field that the warning is about' }),
    message: Type.String({ description: 'The warning for people' }),
  },
  { title: 'Warning' },
)
export type EstimateWarning = Static<typeof EstimateWarning>

export const Gases = Type.Object(
  {
    co2Kg: nullableNumber('CO2 without biogenic CO2, kg'),
    ch4Kg: nullableNumber('CH4, kg'),
    n2oKg: nullableNumber('N2O, kg'),
    biogenicCo2Kg: nullableNumber(
      'Biogenic CO2, kg. Tank-to-wake CO2e includes it if the fuel has a certified value, whose well-to-tank part has it deducted; otherwise it does not',
    ),
  },
  {
    title: 'Gases',
    description: 'Gases from burning the fuel; null where only CO2e is published',
  },
)

export type Gases = Static<typeof Gases>

export const EstimateLine = Type.Object(
  {
    use: Type.Unsafe<LineUse | null>({
      type: ['string', 'null'],
      enum: [...LINE_USES, null],
      description: 'What burns the fuel, as entered',
    }),
    fuelType: stringEnum(FUEL_TYPES, { description: 'Fuel ID' }),
    hvoPercent: nullableNumber('Share of HVO in the blend, % by volume'),
    ...emissions,
    ...fuel,
    kilowattHours: nullableNumber('Electricity used, kWh'),
    gases: Gases,
  },
  { title: 'Line of an estimate' },
)

export type EstimateLine = Static<typeof EstimateLine>

/** The result of a calculator. Values that do not apply to the calculator are `null`. */
export const Estimate = Type.Object(
  {
    calculatorType: CalculatorTypeSchema,
    ...emissions,
    ...fuel,
    hours: nullableNumber('Time under way, hours'),
    guests: nullableNumber('Guests on board'),
    co2eKgPerGuest: nullableNumber('Well-to-wake per guest, kg CO2e'),
    lines: Type.Array(EstimateLine, {
      description: 'The fuels of the trip: the engines first, then the further lines as entered',
    }),
    gases: Gases,
    framework: FrameworkSchema,
    warnings: Type.Array(EstimateWarning, { description: 'What may make the result misleading' }),
    method: Type.String({ description: 'Calculation method' }),
    factors: Type.Array(Factor, { description: 'Every published or entered number used' }),
    edition: Type.String({ description: 'Edition of the emission factors' }),
    dataset: Type.String({ description: 'Name of the factor set' }),
  },
  { title: 'Estimate', description: 'Estimated emissions' },
)
export type Estimate = Static<typeof Estimate>
