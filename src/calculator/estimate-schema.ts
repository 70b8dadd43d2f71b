import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../core/validation/string-enum.js'
import { CalculatorTypeSchema, LINE_USES, type LineUse } from './calculator-data.js'
import { EstimateWarning } from './estimate-warnings.js'
import { Factor } from './factor-list.js'
import { FUEL_TYPES } from './factors/editions.js'
import { FrameworkSchema } from './factors/frameworks.js'

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
