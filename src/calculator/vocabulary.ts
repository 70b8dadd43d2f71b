import type { SchemaValidateFunction } from 'ajv'
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

const isOfTypes = (trip: Record<string, unknown>): boolean =>
  Object.entries(TYPES).every(
    ([name, type]) => trip[name] === undefined || typeof trip[name] === type,
  )

const plausibleTrip: SchemaValidateFunction = (
  _on: unknown,
  trip: Partial<DistanceData>,
  _parent,
  at,
) => {
  // Runs beside the field rules, so it may be handed a trip that they refuse already.
  if (!isOfTypes(trip)) return true
  const { distance, distanceUnit, speedKn } = trip
  if (!distance || !distanceUnit || !speedKn || !(speedKn > 0)) return true
  const found = implausibilities({ ...trip, distance, distanceUnit, speedKn })
  plausibleTrip.errors = found.map(({ path, message }) => ({
    keyword: 'x-plausible-trip',
    instancePath: `${at?.instancePath ?? ''}/${path}`,
    message,
    params: {},
  }))
  return found.length === 0
}

/** What the schemas of trips and vessels say beyond JSON Schema. */
export const vocabulary: Vocabulary = {
  formats: { 'imo-number': isImoNumber },
  keywords: [
    { keyword: 'x-plausible-trip', type: 'object', validate: plausibleTrip, errors: true },
  ],
}

/** Makes a function that checks values against a schema of trips and vessels. */
export const checker = checkers(vocabulary)
