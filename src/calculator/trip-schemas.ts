import type { SchemaOptions } from '@sinclair/typebox'
import type { FieldError } from '../validation/field-errors.js'
import { crossFieldKeyword } from '../validation/cross-field-keyword.js'
import { createValidators, type SchemaExtensions } from '../validation/validator.js'
import { DistanceData } from './calculator-data.js'
import { isImoNumber } from './imo-number.js'
import { findImplausibleValues } from './trip-plausibility.js'

/** What a field of a trip may be: a number between two, or one of some texts. */
interface Limits {
  minimum?: number
  maximum?: number
  enum?: unknown[]
}

const FIELDS: [string, SchemaOptions & Limits][] = Object.entries(DistanceData.properties)

const isWithin = (limits: Limits, value: unknown): boolean => {
  const { minimum = -Infinity, maximum = Infinity, enum: choices } = limits
  if (choices !== undefined) return choices.includes(value)
  return typeof value === 'number' && value >= minimum && value <= maximum
}

/** What is wrong with those fields of a trip together that are fine alone. */
function tripFaults(trip: Record<string, unknown>): FieldError[] {
  const refused = FIELDS.filter(([name, limits]) => {
    const value = trip[name]
    return value !== undefined && !isWithin(limits, value)
  }).map(([name]) => name)
  if (refused.length === 0) return findImplausibleValues(trip)
  const rest = { ...trip }
  for (const name of refused) Reflect.deleteProperty(rest, name)
  // What the consumption comes to hangs on it.
  if (refused.includes('referenceSpeedKn')) delete rest.consumption
  // Of these it matters only that there are some.
  if (refused.includes('generatorHours')) rest.generatorHours = 1
  return findImplausibleValues(rest).filter(({ path }) => !refused.includes(path))
}

/** What the schemas of trips and vessels say beyond JSON Schema. */
export const tripSchemaExtensions: SchemaExtensions = {
  formats: { 'imo-number': isImoNumber },
  keywords: [crossFieldKeyword('x-plausible-trip', tripFaults)],
}

/** Makes a function that checks values against a schema of trips and vessels. */
export const { checker } = createValidators(tripSchemaExtensions)
