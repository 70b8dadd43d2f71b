import type { Calculation, CustomData, DistanceData, FuelLine } from './calculator-data.js'
import type { Estimate, EstimateLine, EstimateWarning, Factor } from './estimate-schema.js'
import { listLineFactors } from './factor-list.js'
import { DEFAULT_FRAMEWORK, getGwp100, type Edition } from './factors/edition.js'
import { LATEST_EDITION, type BurntFuelType } from './factors/editions.js'
import {
  calculateLine,
  sumEmissions,
  sumGases,
  UNKNOWN_GASES,
  type Gwp100,
  type LineEmissions,
} from './fuel-emissions.js'
import { calculateDistanceFuel, getTripLines, type TripCalculation } from './trip-lines.js'
import { KILOGRAMS_PER, KILOMETRES_PER, LITRES_PER } from './units.js'

/** Ratios of speed to reference speed for which the propeller law is a fair estimate. */
const MIN_SPEED_RATIO = 0.5
const MAX_SPEED_RATIO = 1.5

/** What may make the result of a valid calculation misleading. */
function findWarnings({ calculatorType, calculatorData }: Calculation): EstimateWarning[] {
  if (calculatorType === 'custom') return []
  const lines = calculatorData.furtherLines ?? []
  return [
    ...(calculatorType === 'distance' ? findDistanceWarnings(calculatorData) : []),
    ...findLineWarnings(calculatorData, ''),
    ...lines.flatMap((line, i) => findLineWarnings(line, `furtherLines.${i}.`)),
  ]
}

function findDistanceWarnings(trip: DistanceData): EstimateWarning[] {
  const { generatorLitresPerHour = 0, generatorHours, speedKn, referenceSpeedKn } = trip
  const warnings: EstimateWarning[] = []
  if (generatorLitresPerHour > 0 && generatorHours === undefined) {
    warnings.push({
      code: 'generator_hours_assumed',
      path: 'generatorHours',
      message:
        'Generators are calculated for the time under way only. If they also ran at anchor or in port, enter their hours for the whole trip.',
    })
  }
  const ratio = speedKn / (referenceSpeedKn ?? speedKn)
  if (ratio < MIN_SPEED_RATIO || ratio > MAX_SPEED_RATIO) {
    warnings.push({
      code: 'speed_outside_reference',
      path: 'referenceSpeedKn',
      message:
        'The speed is less than half or more than one and a half times the reference speed, where the propeller law is unreliable. Enter the consumption at a speed closer to that of the trip.',
    })
  }
  return warnings
}

type WarnedFields = Partial<
  Pick<FuelLine, 'certifiedGCo2ePerMj' | 'certificateReference' | 'use' | 'fuelType'>
>

function findLineWarnings(
  { certifiedGCo2ePerMj, certificateReference, use, fuelType }: WarnedFields,
  prefix: string,
): EstimateWarning[] {
  const warnings: EstimateWarning[] = []
  if (certifiedGCo2ePerMj !== undefined && certificateReference === undefined) {
    warnings.push({
      code: 'certificate_reference_missing',
      path: `${prefix}certificateReference`,
      message:
        'A certified value needs the number of the proof of sustainability and its scheme, so that it can be checked.',
    })
  }
  if (use === 'shore-power' && fuelType !== 'electricity') {
    warnings.push({
      code: 'shore_power_not_electric',
      path: `${prefix}fuelType`,
      message:
        'Shore power is electricity, but this line burns a fuel. Choose electricity, or another use.',
    })
  }
  return warnings
}

const SMALL_KG = 10

/**
 * Rounds a mass in kg to the gram, because no quantity of fuel is known more precisely. Masses below
 * 10 kg keep six significant digits, so that small results can be recalculated.
 */
const roundResult = (kilograms: number): number =>
  Math.abs(kilograms) < SMALL_KG
    ? Number(kilograms.toPrecision(6))
    : Math.round(kilograms * 1000) / 1000

/** Rounds each of several masses; unknown masses stay `null`. */
function roundResults<T extends Record<keyof T, number | null>>(masses: T): T {
  const entries = Object.entries<number | null>(masses)
  return Object.fromEntries(
    entries.map(([name, kilograms]) => [name, kilograms === null ? null : roundResult(kilograms)]),
  ) as T
}

const WELL_TO_WAKE = 'Well-to-wake, as ISO 14083 defines it: well-to-tank plus tank-to-wake'

const KILOMETRES_IN_NAUTICAL_MILE: Factor = {
  name: 'Kilometres in a nautical mile',
  value: KILOMETRES_PER.nmi,
  unit: 'km/nmi',
  source: 'exact (SI Brochure, table 8)',
}

/** Conversion factors listed with the result; tonnes and cubic metres need none. */
const CONVERSIONS: Partial<Record<string, Factor[]>> = {
  'gal-us': [
    {
      name: 'Litres in a US gallon',
      value: LITRES_PER['gal-us'],
      unit: 'l/gal',
      source: 'exact (NIST Handbook 44, appendix C)',
    },
  ],
  'gal-imp': [
    {
      name: 'Litres in an imperial gallon',
      value: LITRES_PER['gal-imp'],
      unit: 'l/gal',
      source: 'exact (UK Units of Measurement Regulations 1995)',
    },
  ],
  km: [KILOMETRES_IN_NAUTICAL_MILE],
  mi: [
    {
      name: 'Kilometres in a mile',
      value: KILOMETRES_PER.mi,
      unit: 'km/mi',
      source: 'exact (international yard and pound agreement 1959)',
    },
    KILOMETRES_IN_NAUTICAL_MILE,
  ],
}

/** Lists each factor once, even if several fuels or lines share it. */
function listFactors(
  units: readonly string[],
  results: readonly LineEmissions[],
  gwp100: Gwp100,
): Factor[] {
  const conversions = units.flatMap((unit) => CONVERSIONS[unit] ?? [])
  const perLine = results.flatMap((result, i) => listLineFactors(result, i + 1, gwp100))
  const seen = new Set<string>()
  return [...conversions, ...perLine].filter(({ name, fuelType = '', line = '' }) => {
    const key = `${name}/${fuelType}/${line}`
    return !seen.has(key) && seen.add(key)
  })
}

const sumOrNull = (values: (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

const perGuest = (co2eKg: number, guests: number | undefined): number | null =>
  guests === undefined ? null : roundResult(co2eKg / guests)

const toEstimateLine = ({ line, ...result }: LineEmissions): EstimateLine => ({
  use: line.use,
  fuelType: line.fuelType,
  hvoPercent: 'hvoPercent' in line && line.hvoPercent > 0 ? line.hvoPercent : null,
  co2eKg: roundResult(result.co2eKg),
  wellToTankCo2eKg: roundResult(result.wellToTankCo2eKg),
  tankToWakeCo2eKg: roundResult(result.tankToWakeCo2eKg),
  fuelLitres: result.fuelLitres,
  fuelKg: result.fuelKg,
  kilowattHours: result.kilowattHours,
  gases: roundResults(result.gases),
})

/** How the result was calculated, the time under way, and the unit of the first line. */
function describeCalculation({ calculatorType, calculatorData }: TripCalculation) {
  if (calculatorType === 'fuel') {
    return { method: 'from the fuel burnt', hours: null, unit: calculatorData.unit }
  }
  const scaling =
    calculatorData.referenceSpeedKn === undefined
      ? ''
      : ', scaled from the reference speed by the propeller law'
  return {
    method: `from distance, speed and consumption${scaling}`,
    hours: calculateDistanceFuel(calculatorData).hours,
    unit: calculatorData.distanceUnit,
  }
}

/** The parts of the result that come from fuels and electricity. */
function calculateTrip(trip: TripCalculation, edition: Edition<BurntFuelType>) {
  const { framework = DEFAULT_FRAMEWORK, furtherLines = [], guests } = trip.calculatorData
  const { method, hours, unit } = describeCalculation(trip)
  const gwp100 = getGwp100(framework, edition)
  const results = getTripLines(trip).map((line) => calculateLine(edition, gwp100, line))
  const total = sumEmissions(results)
  return {
    ...roundResults(total),
    co2eKgPerGuest: perGuest(total.co2eKg, guests),
    fuelLitres: sumOrNull(results.map(({ fuelLitres }) => fuelLitres)),
    fuelKg: sumOrNull(results.map(({ fuelKg }) => fuelKg)),
    hours,
    lines: results.map(toEstimateLine),
    gases: roundResults(sumGases(results)),
    method: `${WELL_TO_WAKE}, ${method}`,
    factors: listFactors([unit, ...furtherLines.map((line) => line.unit)], results, gwp100),
  }
}

function calculateCustom({ amount, unit, guests }: CustomData) {
  const co2eKg = roundResult(amount * KILOGRAMS_PER[unit])
  return {
    co2eKg,
    wellToTankCo2eKg: null,
    tankToWakeCo2eKg: null,
    co2eKgPerGuest: perGuest(co2eKg, guests),
    fuelLitres: null,
    fuelKg: null,
    hours: null,
    lines: [],
    gases: UNKNOWN_GASES,
    method: 'CO2e as entered, without calculation',
    factors: [],
  }
}

/**
 * Calculates the emissions of a trip, in kg CO2e. This is a pure function.
 *
 * @param edition edition of the emission factors; defaults to the newest
 */
export function calculateEstimate(
  calculation: Calculation,
  edition: Edition<BurntFuelType> = LATEST_EDITION,
): Estimate {
  const { guests = null, framework = DEFAULT_FRAMEWORK } = calculation.calculatorData
  return {
    calculatorType: calculation.calculatorType,
    ...(calculation.calculatorType === 'custom'
      ? calculateCustom(calculation.calculatorData)
      : calculateTrip(calculation, edition)),
    guests,
    framework,
    warnings: findWarnings(calculation),
    edition: edition.id,
    dataset: edition.title,
  }
}
