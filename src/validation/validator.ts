import type { Static, TSchema } from '@sinclair/typebox'
import { Ajv, type Options, type SchemaValidateFunction } from 'ajv'
import type { DistanceData } from '../calculator/calculator-data.js'
import { implausibilities } from '../calculator/plausible-trip.js'
import { fieldErrors, type FieldError } from './field-errors.js'
import { formats } from './formats.js'

const plausibleTrip: SchemaValidateFunction = (
  _on: unknown,
  trip: Partial<DistanceData>,
  _parent,
  at,
) => {
  // Runs beside the field rules, so it may be handed a trip that they refuse already.
  const { distance, distanceUnit, speedKn } = trip
  if (!distance || !distanceUnit || !speedKn || !(speedKn > 0)) return true
  const found = implausibilities(trip as DistanceData)
  plausibleTrip.errors = found.map(({ path, message }) => ({
    keyword: 'x-plausible-trip',
    instancePath: `${at?.instancePath ?? ''}/${path}`,
    message,
    params: {},
  }))
  return found.length === 0
}

/**
 * An Ajv that knows our formats and keywords, reports every error, and refuses what it does
 * not know instead of dropping it.
 */
export function createAjv(options: Options = {}): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    removeAdditional: false,
    useDefaults: true,
    coerceTypes: false,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    ...options,
  })
  for (const [name, { test }] of Object.entries(formats)) ajv.addFormat(name, test)
  ajv.addKeyword({
    keyword: 'x-plausible-trip',
    type: 'object',
    validate: plausibleTrip,
    errors: true,
  })
  ajv.addVocabulary(['example', 'discriminator'])
  return ajv
}

const ajv = createAjv()

export type Checked<T> = { ok: true; value: T } | { ok: false; errors: FieldError[] }

/** A function that tells whether a value is of the schema and, if not, everything wrong with it. */
export function checker<S extends TSchema>(schema: S): (value: unknown) => Checked<Static<S>> {
  const validate = ajv.compile<Static<S>>(schema)
  return (value) =>
    validate(value)
      ? { ok: true, value }
      : { ok: false, errors: fieldErrors(validate.errors ?? []) }
}
