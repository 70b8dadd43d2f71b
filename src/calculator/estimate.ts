import type { Calculation, DistanceData } from './calculator-data.js'
import { calculateDistanceFuel } from './distance-fuel.js'
import type { Estimate, EstimateLine } from './estimate-schema.js'
import { findWarnings } from './estimate-warnings.js'
import { listLineFactors, type Factor } from './factor-list.js'
import type { Edition } from './factors/edition.js'
import { LATEST_EDITION, type BurntFuelType } from './factors/editions.js'
import { DEFAULT_FRAMEWORK, getGwp100, type Framework } from './factors/frameworks.js'
import {
  calculateLine,
  sumEmissions,
  sumGases,
  UNKNOWN_GASES,
  type Gwp100,
  type LineEmissions,
} from './fuel-emissions.js'
import { getDistanceLines, getFuelLines, type TripLine } from './trip-lines.js'
import { KILOGRAMS_PER, KILOMETRES_PER, LITRES_PER } from './units.js'

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
  edition: Edition<BurntFuelType>,
  gwp100: Gwp100,
  units: readonly string[],
  results: readonly LineEmissions[],
): Factor[] {
  const conversions = units.flatMap((unit) => CONVERSIONS[unit] ?? [])
  const perLine = results.flatMap((result, i) => listLineFactors(edition, gwp100, result, i + 1))
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

interface Trip {
  lines: TripLine[]
  /** Units whose conversion factors are listed */
  units: string[]
  method: string
  hours: number | null
  guests: number | undefined
  framework: Framework
}

function estimateTrip(
  calculatorType: 'fuel' | 'distance',
  { lines, units, method, hours, guests, framework }: Trip,
  edition: Edition<BurntFuelType>,
): Omit<Estimate, 'warnings'> {
  const gwp100 = getGwp100(framework, edition)
  const results = lines.map((line) => calculateLine(edition, gwp100, line))
  const total = sumEmissions(results)
  return {
    calculatorType,
    ...roundResults(total),
    fuelLitres: sumOrNull(results.map(({ fuelLitres }) => fuelLitres)),
    fuelKg: sumOrNull(results.map(({ fuelKg }) => fuelKg)),
    hours,
    ...perGuest(total.co2eKg, guests),
    lines: results.map(toEstimateLine),
    gases: roundResults(sumGases(results)),
    framework,
    method: `${WELL_TO_WAKE}, ${method}`,
    factors: listFactors(edition, gwp100, units, results),
    edition: edition.id,
    dataset: edition.title,
  }
}

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

const perGuest = (co2eKg: number, guests: number | undefined) => ({
  guests: guests ?? null,
  co2eKgPerGuest: guests === undefined ? null : roundResult(co2eKg / guests),
})

function toDistanceTrip(data: DistanceData): Trip {
  const scaling =
    data.referenceSpeedKn === undefined
      ? ''
      : ', scaled from the reference speed by the propeller law'
  return {
    lines: getDistanceLines(data),
    units: [data.distanceUnit, ...getFurtherUnits(data.furtherLines)],
    method: `from distance, speed and consumption${scaling}`,
    hours: calculateDistanceFuel(data).hours,
    guests: data.guests,
    framework: data.framework ?? DEFAULT_FRAMEWORK,
  }
}

const getFurtherUnits = (lines: readonly { unit: string }[] = []): string[] =>
  lines.map(({ unit }) => unit)

/**
 * Calculates the emissions of a trip, in kg CO2e. This is a pure function.
 *
 * @param edition edition of the emission factors; defaults to the newest
 */
export const calculateEstimate = (
  calculation: Calculation,
  edition: Edition<BurntFuelType> = LATEST_EDITION,
): Estimate => ({
  ...calculateResult(calculation, edition),
  warnings: findWarnings(calculation),
})

function calculateResult(
  { calculatorType, calculatorData }: Calculation,
  edition: Edition<BurntFuelType>,
): Omit<Estimate, 'warnings'> {
  const { guests, framework = DEFAULT_FRAMEWORK } = calculatorData
  switch (calculatorType) {
    case 'fuel': {
      const trip: Trip = {
        lines: getFuelLines(calculatorData),
        units: [calculatorData.unit, ...getFurtherUnits(calculatorData.furtherLines)],
        method: 'from the fuel burnt',
        hours: null,
        guests,
        framework,
      }
      return estimateTrip('fuel', trip, edition)
    }
    case 'distance':
      return estimateTrip('distance', toDistanceTrip(calculatorData), edition)
    case 'custom': {
      const co2eKg = roundResult(calculatorData.amount * KILOGRAMS_PER[calculatorData.unit])
      return {
        calculatorType,
        co2eKg,
        wellToTankCo2eKg: null,
        tankToWakeCo2eKg: null,
        fuelLitres: null,
        fuelKg: null,
        hours: null,
        ...perGuest(co2eKg, guests),
        lines: [],
        gases: UNKNOWN_GASES,
        framework,
        method: 'CO2e as entered, without calculation',
        factors: [],
        edition: edition.id,
        dataset: edition.title,
      }
    }
  }
}
