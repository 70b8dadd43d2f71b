import type { FieldError } from '../validation/field-errors.js'
import { together } from '../validation/together.js'
import { checkers, type Vocabulary } from '../validation/validator.js'
import type { DistanceData } from './calculator-data.js'
import { isImoNumber } from './imo-number.js'
import { implausibilities } from './plausible-trip.js'

/** The fields that must go together, and what they are. */
const TYPES: Partial<Record<keyof DistanceData, 'number' | 'string'>> = {
  distance: 'number',
  distanceUnit: 'string',
  speedKn: 'number',
  consumption: 'number',
  consumptionUnit: 'string',
  referenceSpeedKn: 'number',
  generatorLitresPerHour: 'number',
  generatorHours: 'number',
}

const isOfTypes = (trip: Record<string, unknown>): trip is Partial<DistanceData> =>
  Object.entries(TYPES).every(
    ([name, type]) => trip[name] === undefined || typeof trip[name] === type,
  )

function tripFaults(trip: Record<string, unknown>): FieldError[] {
  if (!isOfTypes(trip)) return []
  const { distance, distanceUnit, speedKn } = trip
  if (!distance || !distanceUnit || !speedKn || !(speedKn > 0)) return []
  return implausibilities({ ...trip, distance, distanceUnit, speedKn })
}

/** What the schemas of trips and vessels say beyond JSON Schema. */
export const vocabulary: Vocabulary = {
  formats: { 'imo-number': isImoNumber },
  keywords: [together('x-plausible-trip', tripFaults)],
}

/** Makes a function that checks values against a schema of trips and vessels. */
export const checker = checkers(vocabulary)
