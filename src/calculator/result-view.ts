import {
  MAX_DECIMALS,
  roundMass,
  toMassUnit,
  withUnit,
  type NumberFormatter,
} from '../core/formatting/number-formatter.js'
import {
  buildBreakdown,
  buildFactorViews,
  buildFrameworkView,
  withSubscripts,
} from './breakdown-view.js'
import { buildCalculationSteps } from './calculation-steps.js'
import type { Calculation } from './calculator-data.js'
import { calculateEstimate } from './estimate.js'
import { convertKilograms } from './units.js'

const SCALE_OBJECTS = {
  person: { metres: 1.75, label: 'person' },
  lighthouse: { metres: 30, label: 'lighthouse of 30\u00a0m' },
} as const

/** Cubes with an edge of at least this length, in metres, are shown next to the lighthouse. */
const MAX_EDGE_BESIDE_PERSON = 18

const VIEW_WIDTH = 360
const MAX_HEIGHT = 88
const GROUND_Y = 112
const GAP = 16
/** Half the width of a scale object that is drawn 100 units high */
const OBJECT_HALF_WIDTH = 16

const roundToHundredths = (value: number): number => Math.round(value * 100) / 100

/**
 * Draws a cube of gas next to an object of known height, as SVG paths in a 360 by 120 view box.
 *
 * @param edgeM edge of the cube, metres
 */
function drawGasCube(edgeM: number) {
  const scaleObject = edgeM < MAX_EDGE_BESIDE_PERSON ? 'person' : 'lighthouse'
  const { metres, label } = SCALE_OBJECTS[scaleObject]
  const scale = MAX_HEIGHT / Math.max(edgeM, metres)
  const edge = roundToHundredths(Math.max(edgeM * scale, 2))
  const depth = roundToHundredths(edge * 0.3)
  const rise = roundToHundredths(depth * 0.55)
  const objectScale = roundToHundredths((metres * scale) / 100)
  const width = edge + depth + GAP + 2 * OBJECT_HALF_WIDTH * objectScale
  const left = roundToHundredths((VIEW_WIDTH - width) / 2)
  const right = roundToHundredths(left + edge)
  const objectX = roundToHundredths(right + depth + GAP + OBJECT_HALF_WIDTH * objectScale)
  return {
    scaleObject,
    scaleObjectLabel: label,
    /** The scale object is drawn 100 units high above its origin. */
    scaleObjectTransform: `translate(${objectX} ${GROUND_Y}) scale(${objectScale})`,
    front: `M${left} ${GROUND_Y}v${-edge}h${edge}v${edge}z`,
    side: `M${right} ${GROUND_Y}v${-edge}l${depth} ${-rise}v${edge}z`,
    top: `M${left} ${GROUND_Y - edge}h${edge}l${depth} ${-rise}h${-edge}z`,
  }
}

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
export function buildResultView(calculation: Calculation, numbers: NumberFormatter) {
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
    /** For screen readers */
    spoken: `${numbers.significant(total)} ${unit === 'kg' ? 'kilograms' : 'tonnes'} of carbon dioxide equivalent`,
    kilograms: numbers.decimal(co2eKg, 2),
    ...buildBreakdown(calculation, result, { unit, decimals }, numbers),
    /** The emissions as the trip of a petrol car; `null` below 100 m */
    comparison: describeCarTrip(toCarKilometres(co2eKg), numbers),
    part: buildPart(co2eKg, numbers, calculation.calculatorData.guests),
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

const EARTH_CIRCUMFERENCE_KM = 40_075
const MIN_CAR_TRIP_KM = 0.1

function describeCarTrip(km: number, numbers: NumberFormatter): string | null {
  if (km < MIN_CAR_TRIP_KM) return null
  return km < EARTH_CIRCUMFERENCE_KM
    ? `Like driving ${withUnit(formatTwoDigits(km, numbers), 'km')} in a petrol car`
    : `Like driving ${formatTwoDigits(km / EARTH_CIRCUMFERENCE_KM, numbers)} times around the Earth in a petrol car`
}

/** The part of one guest; `null` unless there are several guests. */
function buildPart(co2eKg: number, numbers: NumberFormatter, guests = 1) {
  if (guests < 2 || co2eKg <= 0) return null
  const partKg = co2eKg / guests
  return {
    co2eKg: partKg,
    mass: roundMass(partKg, numbers),
    guests: numbers.whole(guests),
    comparison: describeCarTrip(toCarKilometres(partKg), numbers),
  }
}

const formatTwoDigits = (value: number, { significant }: NumberFormatter): string =>
  significant(Number(value.toPrecision(2)))

export type ResultView = ReturnType<typeof buildResultView>
