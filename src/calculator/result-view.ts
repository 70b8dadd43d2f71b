import type { Calculation } from './calculator-data.js'
import { compareWithCar } from './car-comparison.js'
import { calculateEstimate } from './estimate.js'
import {
  createColumnFormatter,
  formatExact,
  formatHundredths,
  formatMass,
  formatSignificant,
  withUnit,
} from './number-format.js'
import { formatWithUnit, toMassUnit } from './units.js'
import type { Vessel } from './vessel.js'
import { buildCalculationSteps, type CalculationStep } from './calculation-steps.js'

/** A result in the words and digits that the page shows. */
export interface ResultView {
  co2eKg: number
  mass: { value: string; unit: string }
  /** The same mass in the other unit, where that is not hair-splitting */
  otherMass: string | null
  /** The mass as a voice reads it */
  spoken: string
  /** The mass in kg with all the digits that a person may want to copy */
  kilograms: string
  parts: { label: string; mass: string; percent: number }[]
  facts: { label: string; value: string }[]
  /** A trip in a petrol car that emits as much; `null` for less than one is worth telling */
  car: string | null
  cube: CubePicture
  working: CalculationStep[]
  factors: { name: string; value: string; unit: string; source: string }[]
  method: string
  dataset: string
  checkoutUrl: string | null
}

/** The cube of gas beside something of known height, as paths in a picture of 160 by 116. */
interface CubePicture {
  edge: string
  yardstick: 'person' | 'lighthouse'
  beside: string
  front: string
  side: string
  top: string
  yardstickPlace: string
}

const EARTH_KM = 40_075
const SHORTEST_CAR_TRIP_KM = 0.1

const twoDigits = (value: number): string => formatSignificant(Number(value.toPrecision(2)))

function carTrip(km: number): string | null {
  if (km < SHORTEST_CAR_TRIP_KM) return null
  return km < EARTH_KM
    ? withUnit(twoDigits(km), 'km')
    : `${twoDigits(km / EARTH_KM)} times round the Earth`
}

/** Chemical formulas as they are printed: the API has them in ASCII. */
const withSubscripts = (text: string): string =>
  text.replace(/\b(?:CO2|CH4|N2O)/g, (formula) => formula.replace('2', '₂').replace('4', '₄'))

/** Below this the other unit only adds zeros. */
const LEAST_IN_TWO_UNITS_KG = 100

function inOtherUnit(kilograms: number): string | null {
  if (kilograms < LEAST_IN_TWO_UNITS_KG) return null
  return toMassUnit(kilograms) === 'kg'
    ? withUnit(formatSignificant(Number(formatWithUnit(kilograms, 't').toPrecision(3))), 't')
    : withUnit(formatSignificant(kilograms), 'kg')
}

function spoken(kilograms: number): string {
  const unit = toMassUnit(kilograms)
  const value = Number(formatWithUnit(kilograms, unit).toPrecision(4))
  return `${value} ${unit === 'kg' ? 'kilograms' : 'tonnes'} of CO2 equivalent`
}

const YARDSTICKS = {
  person: { metres: 1.75, words: 'person' },
  lighthouse: { metres: 30, words: 'lighthouse of 30\u00a0m' },
} as const

/** Heights that fit above the ground line, which lies at y = 108 and starts at x = 8. */
const PICTURE_HEIGHT = 88
const GROUND = 108
const LEFT = 8

function cubePicture(edgeM: number): CubePicture {
  const yardstick = edgeM < 18 ? 'person' : 'lighthouse'
  const { metres, words } = YARDSTICKS[yardstick]
  const scale = PICTURE_HEIGHT / Math.max(edgeM, metres)
  const hundredths = (value: number) => Math.round(value * 100) / 100
  const edge = hundredths(Math.max(edgeM * scale, 2))
  const depth = hundredths(edge * 0.3)
  const rise = hundredths(depth * 0.55)
  return {
    edge: withUnit(twoDigits(edgeM), 'm'),
    yardstick,
    beside: words,
    front: `M${LEFT} ${GROUND}v${-edge}h${edge}v${edge}z`,
    side: `M${LEFT + edge} ${GROUND}v${-edge}l${depth} ${-rise}v${edge}z`,
    top: `M${LEFT} ${GROUND - edge}h${edge}l${depth} ${-rise}h${-edge}z`,
    // The yardsticks are drawn 100 units high, standing on their origin.
    yardstickPlace: `translate(${LEFT + edge + depth + 12} ${GROUND}) scale(${hundredths((metres * scale) / 100)})`,
  }
}

function checkout(
  base: string,
  calculation: Calculation,
  co2eKg: number,
  vessel: Vessel | null,
): string {
  const url = new URL(base)
  url.searchParams.set('co2eKg', String(Math.round(co2eKg * 1000) / 1000))
  url.searchParams.set('calculatorType', calculation.calculatorType)
  if (vessel) url.searchParams.set('vesselName', vessel.name)
  if (vessel?.imoNumber) url.searchParams.set('imoNumber', vessel.imoNumber)
  return url.href
}

/** @param checkoutUrl where offsetting is offered, if anywhere */
export function buildResultView(
  calculation: Calculation,
  vessel: Vessel | null,
  checkoutUrl: string | undefined,
): ResultView {
  const result = calculateEstimate(calculation)
  const { co2eKg, wellToTankCo2eKg, tankToWakeCo2eKg, fuelLitres, fuelKg, hours } = result
  const { carKm, cubeEdgeM } = compareWithCar(co2eKg)
  const mass = formatMass(co2eKg)
  const column = createColumnFormatter(formatWithUnit(co2eKg, mass.unit))
  const part = (label: string, kilograms: number | null) =>
    kilograms === null
      ? []
      : [
          {
            label,
            mass: withUnit(column(formatWithUnit(kilograms, mass.unit)), mass.unit),
            percent: Math.round((kilograms / co2eKg) * 100),
          },
        ]
  const fact = (label: string, value: number | null, unit: string) =>
    value === null ? [] : [{ label, value: withUnit(formatSignificant(value), unit) }]
  const fuelMass = fuelKg === null ? null : formatMass(fuelKg)
  return {
    co2eKg,
    mass,
    otherMass: inOtherUnit(co2eKg),
    spoken: spoken(co2eKg),
    kilograms: formatHundredths(co2eKg),
    parts: [
      ...part('Burning the fuel', tankToWakeCo2eKg),
      ...part('Supplying the fuel', wellToTankCo2eKg),
    ],
    facts: [
      ...fact('Fuel', fuelLitres, 'l'),
      ...(fuelMass
        ? [{ label: 'Mass of the fuel', value: withUnit(fuelMass.value, fuelMass.unit) }]
        : []),
      ...fact('Time under way', hours, 'h'),
    ],
    car: carTrip(carKm),
    cube: cubePicture(cubeEdgeM),
    working: buildCalculationSteps(calculation),
    factors: result.factors.map(({ name, value, unit, source }) => ({
      name: withSubscripts(name),
      value: formatExact(value),
      unit: withSubscripts(unit),
      source: withSubscripts(source),
    })),
    method: withSubscripts(result.method),
    dataset: result.dataset,
    checkoutUrl: checkoutUrl ? checkout(checkoutUrl, calculation, co2eKg, vessel) : null,
  }
}
