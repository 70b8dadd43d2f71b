import type { FieldError } from '../core/validation/field-errors.js'
import type { DistanceData } from './calculator-data.js'
import { calculateDistanceFuel } from './distance-fuel.js'
import { MAX_SPEED_KN, MAX_TRIP_HOURS } from './trip-limits.js'
import { NAUTICAL_MILES_PER } from './units.js'

/** A trip whose fields may be missing. */
type PartialTrip = Partial<Omit<DistanceData, 'fuelType'>>

/** Beyond this ratio the propeller law does not describe a real ship. */
const MAX_SPEED_RATIO = 4

/** The largest ships bunker about 20,000 m³; this leaves a margin. */
const MAX_FUEL_LITRES = 100_000_000

/**
 * Cross-field rules of a distance trip. Without them, a tiny speed or reference speed would give
 * arbitrarily large results. A rule is skipped if one of its fields is missing.
 */
export function findImplausibleValues(
  trip: PartialTrip,
): (FieldError & { path: keyof DistanceData })[] {
  const errors: (FieldError & { path: keyof DistanceData })[] = []
  const { distance, distanceUnit, speedKn, referenceSpeedKn, consumption, consumptionUnit } = trip
  const hasVoyage = distance !== undefined && distanceUnit !== undefined && speedKn !== undefined
  if (hasVoyage && (distance * NAUTICAL_MILES_PER[distanceUnit]) / speedKn > MAX_TRIP_HOURS) {
    errors.push({
      path: 'speedKn',
      message: 'makes this trip longer than a year: check speed and distance',
    })
  }
  const isReferenceTooFar =
    speedKn !== undefined &&
    referenceSpeedKn !== undefined &&
    (speedKn > referenceSpeedKn * MAX_SPEED_RATIO || referenceSpeedKn > speedKn * MAX_SPEED_RATIO)
  const isPlaning = trip.hullType === 'planing' && referenceSpeedKn !== undefined
  if (isPlaning) {
    errors.push({
      path: 'referenceSpeedKn',
      message:
        'cannot be used for a planing hull, because its consumption does not follow the propeller law: leave it out and enter the consumption at the average speed',
    })
  } else if (isReferenceTooFar) {
    const from = roundKnots(Math.ceil, speedKn / MAX_SPEED_RATIO)
    const to = roundKnots(Math.floor, Math.min(speedKn * MAX_SPEED_RATIO, MAX_SPEED_KN))
    errors.push({
      path: 'referenceSpeedKn',
      message: `must be between ${from} and ${to} knots for a trip at ${formatKnots(speedKn)} knots`,
    })
  }
  if (trip.generatorHours && trip.generatorLitresPerHour === undefined) {
    errors.push({
      path: 'generatorLitresPerHour',
      message: 'is required if generator hours are given',
    })
  }
  const hasConsumption = consumption !== undefined && consumptionUnit !== undefined
  if (hasVoyage && hasConsumption && !isPlaning && !isReferenceTooFar) {
    const complete = { ...trip, distance, distanceUnit, speedKn, consumption, consumptionUnit }
    if (calculateDistanceFuel(complete).engineLitres > MAX_FUEL_LITRES) {
      errors.push({
        path: 'consumption',
        message: 'results in more fuel than any vessel can carry: check consumption and distance',
      })
    }
  }
  return errors
}

const formatKnots = (speed: number): string => String(Number(speed.toPrecision(3)))

/** Rounds to three digits with `Math.ceil` or `Math.floor`, so that the rounded limit is still valid. */
function roundKnots(round: (value: number) => number, speed: number): string {
  const step = 10 ** (Math.floor(Math.log10(speed)) - 2)
  return formatKnots(round(speed / step) * step)
}
