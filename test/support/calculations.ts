import fc from 'fast-check'
import {
  AMOUNT_UNITS,
  CERTIFIABLE,
  CERTIFIED_AS,
  CONSUMPTION_UNITS,
  DISTANCE_UNITS,
  LINE_USES,
  QUANTITY_UNITS,
  type Calculation,
  type CustomData,
  type DistanceData,
  type FuelData,
} from '../../src/calculator/calculator-data.js'
import { FRAMEWORKS } from '../../src/calculator/factors/edition.js'
import { BURNT_FUEL_TYPES, type FuelType } from '../../src/calculator/factors/editions.js'
import { findImplausibleValues } from '../../src/calculator/validate-calculation.js'
import { parseImoNumber, type Vessel } from '../../src/calculator/vessel.js'
import { removeInvisible } from '../../src/core/validation/text-rules.js'

/** A positive number up to a maximum. */
const positive = (maximum: number) =>
  fc.double({ min: 1e-8, max: maximum, noNaN: true, noDefaultInfinity: true })

const burntFuelType = fc.constantFrom(...BURNT_FUEL_TYPES)
const guests = fc.integer({ min: 1, max: 100_000 })
const certifiedGCo2ePerMj = fc.double({ min: 0, max: 200, noNaN: true }).map((value) => value + 0)
const hvoPercent = fc.oneof(
  fc.constantFrom(10, 30, 100),
  fc.double({ min: 0.1, max: 100, noNaN: true }),
)

const certificateReference = fc.constantFrom('EU-ISCC-Cert-DE100 12345', 'REDcert 4711')
/** Most codes have the default, which they leave out. */
const framework = fc.constantFrom(...FRAMEWORKS.filter((one) => one !== 'clearwake'))

/** The fields of a blend or a certified fuel, if the fuel may have them. */
const biofuelFields = (fuelType: FuelType) => {
  const certificate = { certifiedGCo2ePerMj, certificateReference }
  if (fuelType === 'fame') {
    return fc.record(certificate, { requiredKeys: ['certifiedGCo2ePerMj'] })
  }
  if (fuelType === 'mgo') {
    return fc.option(
      fc.record({ hvoPercent, certifiedGCo2ePerMj }, { requiredKeys: ['hvoPercent'] }),
      {
        nil: {},
      },
    )
  }
  const kinds = CERTIFIABLE.get(fuelType)
  if (kinds === undefined) return fc.constant({})
  const certified =
    kinds.length === 1
      ? fc.record(certificate)
      : fc.record({
          certifiedGCo2ePerMj,
          certifiedAs: fc.constantFrom(...CERTIFIED_AS),
          certificateReference,
        })
  return fc.option(certified, { nil: {} })
}

const burntLine = fc
  .record({
    fuelType: burntFuelType,
    unit: fc.constantFrom(...QUANTITY_UNITS.filter((unit) => unit !== 'kWh')),
  })
  .chain(({ fuelType, unit }) =>
    fc
      .record({
        quantity: positive(unit === 'm3' || unit === 't' ? 100_000 : 10_000_000),
        biofuel: biofuelFields(fuelType),
      })
      .map(({ quantity, biofuel }) => ({ fuelType, quantity, unit, ...biofuel })),
  )

const electricityLine = fc.record({
  fuelType: fc.constant('electricity' as const),
  quantity: positive(10_000_000),
  unit: fc.constant('kWh' as const),
  kgCo2ePerKwh: positive(5),
  factorSource: fc.constantFrom('Grid 2025', 'Port of Palma', 'σ'),
})

const line = fc.oneof(
  { weight: 4, arbitrary: burntLine },
  { weight: 1, arbitrary: electricityLine },
)

/** Further lines and guests: most trips have none. */
const extras = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        furtherLines: fc.array(
          fc
            .tuple(line, fc.option(fc.constantFrom(...LINE_USES), { nil: undefined }))
            .map(([fields, use]) => (use === undefined ? { ...fields } : { use, ...fields })),
          { minLength: 1, maxLength: 3 },
        ),
        guests,
        framework,
      },
      { requiredKeys: [] },
    ),
  },
)

/** Any valid data of the fuel calculator. */
export const fuelData: fc.Arbitrary<FuelData> = fc
  .tuple(line, extras)
  .map(([fields, more]) => ({ ...fields, ...more }))

/** Any valid data of the distance calculator; at its speed, the trip takes less than a year. */
export const distanceData: fc.Arbitrary<DistanceData> = fc
  .record({ speedKn: positive(100), distanceUnit: fc.constantFrom(...DISTANCE_UNITS) })
  .chain(({ speedKn, distanceUnit }) =>
    fc.record(
      {
        fuelType: burntFuelType,
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
  // Generator hours require a consumption.
  .map(({ generatorHours, ...trip }) =>
    trip.generatorLitresPerHour === undefined || generatorHours === undefined
      ? trip
      : { ...trip, generatorHours },
  )
  .filter((trip) => findImplausibleValues(trip).length === 0)
  .chain((trip) =>
    fc
      .tuple(biofuelFields(trip.fuelType), extras)
      .map(([biofuel, more]) => ({ ...trip, ...biofuel, ...more })),
  )

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

/** One line of text in any script, including markup and escapes. */
export const textLine = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .oneof(
      fc.constantFrom(...SCRIPTS),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength }),
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength }),
    )
    // Invisible characters do not survive: the schemas remove them.
    .map((text) => removeInvisible(Array.from(text).slice(0, maxLength).join('')))
    // Fillers are letters and the blank Braille pattern is a symbol, but both are invisible.
    .filter((text) => /(?![\p{DI}\u2800])[\p{L}\p{N}\p{S}]/u.test(text))
    .filter((text) => !/[\p{Cc}\p{Cs}\p{NChar}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text))

/** Any valid data of the custom calculator. */
export const customData: fc.Arbitrary<CustomData> = fc.constantFrom(...AMOUNT_UNITS).chain((unit) =>
  fc.record(
    {
      amount: positive(unit === 't' ? 1_000_000 : 1_000_000_000),
      unit: fc.constant(unit),
      description: textLine(120),
      guests,
    },
    { requiredKeys: ['amount', 'unit'] },
  ),
)

/** Any calculation of any type. */
export const calculation: fc.Arbitrary<Calculation> = fc.oneof(
  fuelData.map((calculatorData) => ({ calculatorType: 'fuel' as const, calculatorData })),
  distanceData.map((calculatorData) => ({ calculatorType: 'distance' as const, calculatorData })),
  customData.map((calculatorData) => ({ calculatorType: 'custom' as const, calculatorData })),
)

/** Any IMO number: six digits and their check digit. */
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

/** Any vessel, with or without an IMO number. */
export const vessel: fc.Arbitrary<Vessel> = fc.record(
  { name: textLine(80), imoNumber },
  { requiredKeys: ['name'] },
)

/** A typical trip for each calculator. */
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

/** Real vessels with their real numbers. */
export const REAL_VESSELS: readonly Vessel[] = [
  { name: 'Ever Given', imoNumber: '9811000' },
  { name: 'Queen Mary 2', imoNumber: '9241061' },
  { name: 'Symphony of the Seas', imoNumber: '9744001' },
  { name: 'Emma Maersk', imoNumber: '9321483' },
  { name: 'Eendracht', imoNumber: '8814275' },
]
