import type { DistanceData } from './calculator-data.js'
import { distanceSums } from './distance-sums.js'
import { NAUTICAL_MILES_PER } from './units.js'

/** The fields that must go together. */
type Trip = Partial<Pick<DistanceData, 'consumption' | 'consumptionUnit'>> &
  Pick<
    DistanceData,
    | 'distance'
    | 'distanceUnit'
    | 'speedKn'
    | 'referenceSpeedKn'
    | 'generatorLitresPerHour'
    | 'generatorHours'
  >

/** A year and a day: nobody sails longer than this in one trip. */
export const LONGEST_TRIP_HOURS = 8_784

/** Beyond this the cube of the speed ratio says nothing about a real ship. */
const WIDEST_SPEED_RATIO = 4

/** The largest ships bunker some 20,000 m³; a margin for those to come. */
const LARGEST_BUNKERS_LITRES = 100_000_000

const knots = (speed: number): string => String(Number(speed.toPrecision(3)))

/**
 * What is wrong with a distance trip whose fields are each fine but do not go together.
 * Without this, a tiny speed or reference speed makes a result of any size.
 */
export function implausibilities(trip: Trip): { path: keyof DistanceData; message: string }[] {
  const found: { path: keyof DistanceData; message: string }[] = []
  const hours = (trip.distance * NAUTICAL_MILES_PER[trip.distanceUnit]) / trip.speedKn
  if (hours > LONGEST_TRIP_HOURS) {
    found.push({
      path: 'speedKn',
      message: 'makes this trip longer than a year: check speed and distance',
    })
  }
  const reference = trip.referenceSpeedKn
  if (
    reference !== undefined &&
    (trip.speedKn > reference * WIDEST_SPEED_RATIO || reference > trip.speedKn * WIDEST_SPEED_RATIO)
  ) {
    found.push({
      path: 'referenceSpeedKn',
      message: `should be between ${knots(trip.speedKn / WIDEST_SPEED_RATIO)} and ${knots(trip.speedKn * WIDEST_SPEED_RATIO)} knots for a trip at ${knots(trip.speedKn)} knots`,
    })
  }
  if (trip.generatorHours && trip.generatorLitresPerHour === undefined) {
    found.push({
      path: 'generatorLitresPerHour',
      message: 'must be given too where generator hours are',
    })
  }
  const { consumption, consumptionUnit } = trip
  if (consumption !== undefined && consumptionUnit !== undefined) {
    const { engineLitres } = distanceSums({ ...trip, consumption, consumptionUnit })
    if (engineLitres > LARGEST_BUNKERS_LITRES) {
      found.push({
        path: 'consumption',
        message: 'makes this trip burn more than any vessel carries: check it and the distance',
      })
    }
  }
  return found
}
