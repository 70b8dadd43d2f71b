import type { Calculation } from './calculator-data.js'
import { comparison } from './comparison.js'
import { estimate } from './estimate.js'
import { formatExact, formatHundredths, formatMass, formatSignificant } from './number-text.js'
import type { Vessel } from './vessel.js'
import { working, type WorkingStep } from './working.js'

/** A result in the words and digits that the page shows. */
export interface ResultView {
  co2eKg: number
  mass: { value: string; unit: string }
  /** The same mass in the other unit */
  otherMass: string
  /** The mass in kg with all the digits that a person may want to copy */
  kilograms: string
  parts: { label: string; mass: string; percent: number }[]
  facts: { label: string; value: string }[]
  carKm: string
  cube: CubePicture
  working: WorkingStep[]
  factors: { name: string; value: string; unit: string; source: string }[]
  method: string
  dataset: string
  checkoutUrl: string | null
}

/** The cube of gas beside something of known height; heights and edges in the picture's units. */
interface CubePicture {
  edge: string
  yardstick: 'person' | 'lighthouse'
  cube: number
  yardstickHeight: number
}

const YARDSTICKS = { person: 1.75, lighthouse: 30 } as const
const PICTURE_HEIGHT = 88

function cubePicture(edgeM: number): CubePicture {
  const yardstick = edgeM < 18 ? 'person' : 'lighthouse'
  const scale = PICTURE_HEIGHT / Math.max(edgeM, YARDSTICKS[yardstick])
  const rounded = (value: number) => Math.round(value * 100) / 100
  return {
    edge: `${formatSignificant(Number(edgeM.toPrecision(2)))} m`,
    yardstick,
    cube: rounded(Math.max(edgeM * scale, 2)),
    yardstickHeight: rounded(YARDSTICKS[yardstick] * scale),
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

const inWords = (kilograms: number): string => {
  const { value, unit } = formatMass(kilograms)
  return `${value} ${unit}`
}

/** @param checkoutUrl where offsetting is offered, if anywhere */
export function resultView(
  calculation: Calculation,
  vessel: Vessel | null,
  checkoutUrl: string | undefined,
): ResultView {
  const result = estimate(calculation)
  const { co2eKg, wellToTankCo2eKg, tankToWakeCo2eKg, fuelLitres, fuelKg, hours } = result
  const { carKm, cubeEdgeM } = comparison(co2eKg)
  const part = (label: string, mass: number | null) =>
    mass === null
      ? []
      : [{ label, mass: inWords(mass), percent: Math.round((mass / co2eKg) * 100) }]
  const fact = (label: string, value: number | null, unit: string) =>
    value === null ? [] : [{ label, value: `${formatSignificant(value)} ${unit}` }]
  return {
    co2eKg,
    mass: formatMass(co2eKg),
    otherMass:
      formatMass(co2eKg).unit === 'kg'
        ? `${formatSignificant(Number((co2eKg / 1000).toPrecision(3)))} t`
        : `${formatSignificant(co2eKg)} kg`,
    kilograms: formatHundredths(co2eKg),
    parts: [
      ...part('Burning the fuel', tankToWakeCo2eKg),
      ...part('Supplying the fuel', wellToTankCo2eKg),
    ],
    facts: [
      ...fact('Fuel', fuelLitres, 'l'),
      ...fact('Mass of the fuel', fuelKg, 'kg'),
      ...fact('Time under way', hours, 'h'),
    ],
    carKm: `${formatSignificant(Number(carKm.toPrecision(2)))} km`,
    cube: cubePicture(cubeEdgeM),
    working: working(calculation, result),
    factors: result.factors.map((factor) => ({ ...factor, value: formatExact(factor.value) })),
    method: result.method,
    dataset: result.dataset,
    checkoutUrl: checkoutUrl ? checkout(checkoutUrl, calculation, co2eKg, vessel) : null,
  }
}
