import type { DistanceData } from './calculator-data.js'
import { NAUTICAL_MILES_PER } from './units.js'

/** A year and a day: nobody sails longer than this in one trip. */
const LONGEST_TRIP_HOURS = 8_784

/** Beyond this the cube of the speed ratio says nothing about a real ship. */
const WIDEST_SPEED_RATIO = 4

/**
 * What is wrong with a distance trip whose fields are each fine but do not go together.
 * Without this, a tiny speed or reference speed makes a result of any size.
 */
export function implausibilities(
  trip: DistanceData,
): { path: keyof DistanceData; message: string }[] {
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
      message: `must lie within ${WIDEST_SPEED_RATIO} times the speed of the trip, above or below`,
    })
  }
  if (trip.generatorHours !== undefined && trip.generatorLitresPerHour === undefined) {
    found.push({
      path: 'generatorLitresPerHour',
      message: 'is needed to make use of the generator hours',
    })
  }
  return found
}
