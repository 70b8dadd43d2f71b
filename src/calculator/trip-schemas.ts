import type { SchemaOptions } from '@sinclair/typebox'
import { crossFieldKeyword } from '../core/validation/cross-field-keyword.js'
import type { FieldError } from '../core/validation/field-errors.js'
import { createValidators, type SchemaExtensions } from '../core/validation/validator.js'
import { DistanceData } from './calculator-data.js'
import { findFuelLineErrors } from './fuel-line-rules.js'
import { isImoNumber } from './imo-number.js'
import { findImplausibleValues } from './trip-plausibility.js'

/** The limits of a trip field: a numeric range or an enum. */
interface FieldLimits {
  minimum?: number
  maximum?: number
  enum?: unknown[]
}

const TRIP_FIELDS: [string, SchemaOptions & FieldLimits][] = Object.entries(DistanceData.properties)

function isWithinLimits(limits: FieldLimits, value: unknown): boolean {
  const { minimum = -Infinity, maximum = Infinity, enum: choices } = limits
  if (choices !== undefined) return choices.includes(value)
  return typeof value === 'number' && value >= minimum && value <= maximum
}

/** Errors in combinations of fields that are valid on their own. */
function validateTrip(trip: Record<string, unknown>): FieldError[] {
  const invalid = TRIP_FIELDS.filter(([name, limits]) => {
    const value = trip[name]
    return value !== undefined && !isWithinLimits(limits, value)
  }).map(([name]) => name)
  const valid = Object.fromEntries(Object.entries(trip).filter(([name]) => !invalid.includes(name)))
  // Total consumption depends on the reference speed.
  if (invalid.includes('referenceSpeedKn')) delete valid.consumption
  // Other rules only check whether generator hours are given.
  if (invalid.includes('generatorHours')) valid.generatorHours = 1
  return findImplausibleValues(valid).filter(({ path }) => !invalid.includes(path))
}

/** Formats and keywords added to JSON Schema for trips and vessels. */
export const tripSchemaExtensions: SchemaExtensions = {
  formats: { 'imo-number': isImoNumber },
  keywords: [
    crossFieldKeyword('x-plausible-trip', validateTrip),
    crossFieldKeyword('x-fuel-line', findFuelLineErrors),
  ],
}

/** Creates a validator for a schema of trips or vessels. */
export const { checker } = createValidators(tripSchemaExtensions)
