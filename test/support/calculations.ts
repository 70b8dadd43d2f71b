import fc from 'fast-check'
import {
  AMOUNT_UNITS,
  CONSUMPTION_UNITS,
  DISTANCE_UNITS,
  QUANTITY_UNITS,
  type Calculation,
  type CustomData,
  type DistanceData,
  type FuelData,
} from '../../src/calculator/calculator-data.js'
import { FUEL_TYPES } from '../../src/calculator/emission-factors.js'
import { parseImoNumber } from '../../src/calculator/imo-number.js'
import type { Vessel } from '../../src/calculator/vessel.js'
import { findImplausibleValues } from '../../src/calculator/trip-plausibility.js'

/** A positive number of any plausible magnitude. */
const positive = (maximum: number) =>
  fc.double({ min: 1e-8, max: maximum, noNaN: true, noDefaultInfinity: true })

const fuelType = fc.constantFrom(...FUEL_TYPES)

/** Valid data of the fuel calculator. */
const fuelData: fc.Arbitrary<FuelData> = fc.constantFrom(...QUANTITY_UNITS).chain((unit) =>
  fc.record({
    fuelType,
    quantity: positive(unit === 'm3' || unit === 't' ? 100_000 : 10_000_000),
    unit: fc.constant(unit),
  }),
)

/** Valid data of the distance calculator. The speed limits the distance, so that the trip is shorter than a year. */
const distanceData: fc.Arbitrary<DistanceData> = fc
  .record({ speedKn: positive(100), distanceUnit: fc.constantFrom(...DISTANCE_UNITS) })
  .chain(({ speedKn, distanceUnit }) =>
    fc.record(
      {
        fuelType,
        distance: positive(Math.max(1e-8, Math.min(100_000, speedKn * 8_000))),
        distanceUnit: fc.constant(distanceUnit),
        speedKn: fc.constant(speedKn),
        consumption: positive(100_000),
        consumptionUnit: fc.constantFrom(...CONSUMPTION_UNITS),
        referenceSpeedKn: fc
          .double({ min: 0.26, max: 3.9, noNaN: true })
          .map((ratio) => Math.min(100, speedKn * ratio)),
        generatorLitresPerHour: positive(10_000),
        generatorHours: positive(8_784),
      },
      {
        requiredKeys: [
          'fuelType',
          'distance',
          'distanceUnit',
          'speedKn',
          'consumption',
          'consumptionUnit',
        ],
      },
    ),
  )
  // Generator hours without a consumption are invalid.
  .map(({ generatorHours, ...trip }) =>
    trip.generatorLitresPerHour === undefined || generatorHours === undefined
      ? trip
      : { ...trip, generatorHours },
  )
  .filter((trip) => findImplausibleValues(trip).length === 0)

const SCRIPTS = [
  'Ever Given',
  'Ægir Ýmir',
  'Ναυσικά',
  'Надежда',
  '長江號',
  'أم القيوين',
  'ישראל',
  'नौका',
  '⛵🚢👩‍✈️🏴‍☠️',
  '"Quote" \'n\' `tick`',
  '<script>alert(1)</script>',
  '&amp; <%= it %> {{ x }}',
  '\\u0041 \\n %00 %2f',
  '["a",0]',
  '0',
] as const

/** One line of text in any script, with or without markup and escapes. */
export const textLine = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .oneof(
      fc.constantFrom(...SCRIPTS),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength }),
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength }),
    )
    .map((text) => Array.from(text).slice(0, maxLength).join(''))
    // Needs a visible character: default-ignorable letters and the blank Braille pattern are not.
    .filter((text) => /(?![\p{DI}\u2800])[\p{L}\p{N}\p{S}]/u.test(text))
    .filter((text) => !/[\p{Cc}\p{Cs}\p{NChar}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text))

/** Valid data of the custom calculator. */
const customData: fc.Arbitrary<CustomData> = fc.constantFrom(...AMOUNT_UNITS).chain((unit) =>
  fc.record(
    {
      amount: positive(unit === 't' ? 1_000_000 : 1_000_000_000),
      unit: fc.constant(unit),
      description: textLine(120),
    },
    { requiredKeys: ['amount', 'unit'] },
  ),
)

/** A valid calculation of any type. */
export const calculation: fc.Arbitrary<Calculation> = fc.oneof(
  fuelData.map((calculatorData) => ({ calculatorType: 'fuel' as const, calculatorData })),
  distanceData.map((calculatorData) => ({ calculatorType: 'distance' as const, calculatorData })),
  customData.map((calculatorData) => ({ calculatorType: 'custom' as const, calculatorData })),
)

/** A valid IMO number: six digits and their check digit. */
export const imoNumber: fc.Arbitrary<string> = fc
  .integer({ min: 1, max: 999_999 })
  .map((body) => String(body).padStart(6, '0'))
  .chain((body) =>
    fc.constantFrom(
      ...Array.from({ length: 10 }, (_, digit) => `${body}${digit}`).filter(
        (digits) => parseImoNumber(digits) !== null,
      ),
    ),
  )

/** A vessel with or without an IMO number. */
export const vessel: fc.Arbitrary<Vessel> = fc.record(
  { name: textLine(80), imoNumber },
  { requiredKeys: ['name'] },
)

/** A typical calculation of each type. */
export const TYPICAL_CALCULATIONS: {
  [T in Calculation['calculatorType']]: Extract<Calculation, { calculatorType: T }>
} = {
  fuel: { calculatorType: 'fuel', calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' } },
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
}

/** Real vessels with their IMO numbers. */
export const REAL_VESSELS: readonly Vessel[] = [
  { name: 'Ever Given', imoNumber: '9811000' },
  { name: 'Queen Mary 2', imoNumber: '9241061' },
  { name: 'Symphony of the Seas', imoNumber: '9744001' },
  { name: 'Emma Maersk', imoNumber: '9321483' },
  { name: 'Eendracht', imoNumber: '8814275' },
]
