import {
  MAX_DECIMALS,
  withUnit,
  type NumberFormatter,
} from '../core/formatting/number-formatter.js'
import { buildBreakdown, type BreakdownView } from './breakdown-view.js'
import { buildCalculationSteps, type StepGroup } from './calculation-steps.js'
import type { Calculation } from './calculator-data.js'
import { calculateEstimate } from './estimate.js'
import { buildFactorViews, withSubscripts, type FactorView } from './factor-view.js'
import { buildFrameworkView, type FrameworkView } from './gas-view.js'
import { drawGasCube, type GasCubeDrawing } from './gas-cube-drawing.js'
import { convertKilograms, toMassUnit } from './units.js'

/** Average petrol car, kg CO2e per kilometre (DESNZ 2026, Passenger vehicles). */
const CAR_KG_CO2E_PER_KM = 0.16152

/**
 * Density of CO2, kg/m3: its molar mass divided by the molar volume of an ideal gas at 15 °C and
 * 101.325 kPa (ISO 13443).
 */
const CO2_KG_PER_CUBIC_METRE = 0.0440095 / ((8.314462618 * 288.15) / 101_325)

/** Distance that an average petrol car drives for the same emissions, km. */
export const toCarKilometres = (co2eKg: number): number => co2eKg / CAR_KG_CO2E_PER_KM

/** Edge of a cube that holds the mass as pure CO2 at 15 °C and sea-level pressure, m. */
export const toGasCubeEdge = (co2eKg: number): number => Math.cbrt(co2eKg / CO2_KG_PER_CUBIC_METRE)

/** A result as the page shows it: formatted numbers with their units. */
export interface ResultView extends BreakdownView, FrameworkView {
  co2eKg: number
  mass: { value: string; unit: string }
  /** The same mass in the other unit; `null` for small masses */
  otherMass: string | null
  /** The mass with its unit spelled out, for screen readers */
  spoken: string
  /** The mass in kg with two decimals */
  kilograms: string
  /** Distance that a petrol car drives for the same emissions; `null` below 100 m */
  car: string | null
  /** Emissions of that car, kg CO2e per kilometre */
  carFactor: string
  /** Whether the emissions were calculated from fuel or electricity */
  isWellToWake: boolean
  /** What may make the result misleading */
  warnings: string[]
  cube: GasCubeDrawing & { edge: string }
  steps: StepGroup[]
  factors: FactorView[]
  method: string
  edition: string
  dataset: string
}

export function buildResultView(calculation: Calculation, numbers: NumberFormatter): ResultView {
  const result = calculateEstimate(calculation)
  const { co2eKg } = result
  const unit = toMassUnit(co2eKg)
  const total = convertKilograms(co2eKg, unit)
  // Gives the total four significant digits, and its parts the same number of decimals.
  const decimals =
    total === 0 ? 0 : Math.min(Math.max(0, 3 - Math.floor(Math.log10(total))), MAX_DECIMALS)
  const edgeM = toGasCubeEdge(co2eKg)
  return {
    co2eKg,
    mass: { value: numbers.significant(total), unit },
    otherMass: formatInOtherUnit(co2eKg, numbers),
    spoken: `${numbers.significant(total)} ${unit === 'kg' ? 'kilograms' : 'tonnes'} of carbon dioxide equivalent`,
    kilograms: numbers.decimal(co2eKg, 2),
    ...buildBreakdown(calculation, result, { unit, decimals }, numbers),
    car: formatCarTrip(toCarKilometres(co2eKg), numbers),
    carFactor: numbers.exact(CAR_KG_CO2E_PER_KM),
    isWellToWake: calculation.calculatorType !== 'custom',
    warnings: result.warnings.map(({ message }) => message),
    ...buildFrameworkView(result, numbers),
    cube: { ...drawGasCube(edgeM), edge: withUnit(formatTwoDigits(edgeM, numbers), 'm') },
    steps: buildCalculationSteps(calculation, numbers),
    factors: buildFactorViews(result.factors, numbers),
    method: withSubscripts(result.method),
    edition: result.edition,
    dataset: withSubscripts(result.dataset),
  }
}

/** Below this mass, the other unit would only add zeros. */
const MIN_TWO_UNITS_KG = 100

function formatInOtherUnit(kilograms: number, numbers: NumberFormatter): string | null {
  if (kilograms < MIN_TWO_UNITS_KG) return null
  return toMassUnit(kilograms) === 'kg'
    ? withUnit(numbers.significant(Number(convertKilograms(kilograms, 't').toPrecision(3))), 't')
    : withUnit(numbers.significant(kilograms), 'kg')
}

const EARTH_CIRCUMFERENCE_KM = 40_075
const MIN_CAR_TRIP_KM = 0.1

function formatCarTrip(km: number, numbers: NumberFormatter): string | null {
  if (km < MIN_CAR_TRIP_KM) return null
  return km < EARTH_CIRCUMFERENCE_KM
    ? withUnit(formatTwoDigits(km, numbers), 'km')
    : `${formatTwoDigits(km / EARTH_CIRCUMFERENCE_KM, numbers)} times around the Earth`
}

const formatTwoDigits = (value: number, { significant }: NumberFormatter): string =>
  significant(Number(value.toPrecision(2)))
