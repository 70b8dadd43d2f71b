import type { DistanceData } from './calculator-data.js'
import { calculateDistanceFuel } from './distance-fuel.js'
import { NAUTICAL_MILES_PER } from './units.js'

/** The fields that must go together, as far as they are known. */
type Trip = Partial<Omit<DistanceData, 'fuelType'>>

/** Faster than any vessel, knots */
export const MAX_SPEED_KN = 100

/** A year and a day: nobody sails longer than this in one trip. */
export const MAX_TRIP_HOURS = 8_784

/** Beyond this the cube of the speed ratio says nothing about a real ship. */
const WIDEST_SPEED_RATIO = 4

/** The largest ships bunker some 20,000 m³; a margin for those to come. */
const LARGEST_BUNKERS_LITRES = 100_000_000

const knots = (speed: number): string => String(Number(speed.toPrecision(3)))

/** A speed to three digits, rounded so that it stays within what it is the bound of. */
function knotsRounded(round: (value: number) => number, speed: number): string {
  const step = 10 ** (Math.floor(Math.log10(speed)) - 2)
  return knots(round(speed / step) * step)
}

/**
 * What is wrong with a distance trip whose fields are each fine but do not go together.
 * Without this, a tiny speed or reference speed makes a result of any size.
 */
export function findImplausibleValues(trip: Trip): { path: keyof DistanceData; message: string }[] {
  const found: { path: keyof DistanceData; message: string }[] = []
  const { distance, distanceUnit, speedKn, referenceSpeedKn, consumption, consumptionUnit } = trip
  const isVoyage = distance !== undefined && distanceUnit !== undefined && speedKn !== undefined
  if (isVoyage && (distance * NAUTICAL_MILES_PER[distanceUnit]) / speedKn > MAX_TRIP_HOURS) {
    found.push({
      path: 'speedKn',
      message: 'makes this trip longer than a year: check speed and distance',
    })
  }
  const isFarFromReference =
    speedKn !== undefined &&
    referenceSpeedKn !== undefined &&
    (speedKn > referenceSpeedKn * WIDEST_SPEED_RATIO ||
      referenceSpeedKn > speedKn * WIDEST_SPEED_RATIO)
  if (isFarFromReference) {
    const from = knotsRounded(Math.ceil, speedKn / WIDEST_SPEED_RATIO)
    const to = knotsRounded(Math.floor, Math.min(speedKn * WIDEST_SPEED_RATIO, MAX_SPEED_KN))
    found.push({
      path: 'referenceSpeedKn',
      message: `should be between ${from} and ${to} knots for a trip at ${knots(speedKn)} knots`,
    })
  }
  if (trip.generatorHours && trip.generatorLitresPerHour === undefined) {
    found.push({
      path: 'generatorLitresPerHour',
      message: 'must be given too where generator hours are',
    })
  }
  const isConsumptionKnown = consumption !== undefined && consumptionUnit !== undefined
  if (isVoyage && isConsumptionKnown && !isFarFromReference) {
    const whole = { ...trip, distance, distanceUnit, speedKn, consumption, consumptionUnit }
    if (calculateDistanceFuel(whole).engineLitres > LARGEST_BUNKERS_LITRES) {
      found.push({
        path: 'consumption',
        message: 'makes this trip burn more than any vessel carries: check it and the distance',
      })
    }
  }
  return found
}
