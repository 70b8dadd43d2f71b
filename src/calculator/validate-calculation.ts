import type { SchemaOptions } from '@sinclair/typebox'
import {
  createValidators,
  crossFieldKeyword,
  type FieldError,
  type SchemaExtensions,
  type ValidationResult,
} from '../core/validation/field-errors.js'
import {
  CALCULATOR_DATA,
  CERTIFIABLE,
  DistanceData,
  MAX_SPEED_KN,
  MAX_TRIP_HOURS,
  type Calculation,
  type CalculatorType,
} from './calculator-data.js'
import { ELECTRICITY } from './factors/editions.js'
import { calculateDistanceFuel } from './trip-lines.js'
import { NAUTICAL_MILES_PER } from './units.js'
import { isImoNumber } from './vessel.js'

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

type AddError = (path: string, message: string) => void

/** Cross-field rules of a line: blends, certified values and electricity. */
function findFuelLineErrors(line: Record<string, unknown>): FieldError[] {
  const { fuelType, unit, hvoPercent } = line
  const errors: FieldError[] = []
  const add: AddError = (path, message) => void errors.push({ path, message })
  if (hvoPercent !== undefined && fuelType !== 'mgo')
    add('hvoPercent', 'is for marine gas oil only')
  checkCertificate(line, add)
  for (const name of ['kgCo2ePerKwh', 'factorSource']) {
    const isGiven = line[name] !== undefined
    if (fuelType === ELECTRICITY && !isGiven) add(name, 'is required for electricity')
    if (fuelType !== ELECTRICITY && isGiven) add(name, 'is for electricity only')
  }
  if (fuelType === ELECTRICITY && unit !== undefined && unit !== 'kWh') {
    add('unit', 'must be kWh for electricity')
  }
  if (fuelType !== ELECTRICITY && unit === 'kWh') add('unit', 'is for electricity only')
  return errors
}

function checkCertificate(line: Record<string, unknown>, add: AddError): void {
  const { fuelType, hvoPercent, certifiedGCo2ePerMj, certifiedAs } = line
  if (certifiedGCo2ePerMj === undefined) {
    if (fuelType === 'fame') {
      add('certifiedGCo2ePerMj', 'is required for FAME, whose emissions depend on its origin')
    }
    for (const name of ['certifiedAs', 'certificateReference']) {
      if (line[name] !== undefined) add(name, 'is for certified values only')
    }
    return
  }
  const kinds = CERTIFIABLE.get(hvoPercent === undefined ? fuelType : 'hvo')
  if (kinds === undefined) {
    add('certifiedGCo2ePerMj', 'is for HVO and its blends, FAME, methanol and LNG only')
  } else if (certifiedAs === undefined && kinds.length > 1) {
    add('certifiedAs', 'is required: bio for a biofuel, rfnbo for an e-fuel')
  } else if (certifiedAs === 'rfnbo' && !kinds.includes(certifiedAs)) {
    add('certifiedAs', 'must be bio for HVO and FAME')
  }
}

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

const validators = {
  fuel: checker(CALCULATOR_DATA.fuel),
  distance: checker(CALCULATOR_DATA.distance),
  custom: checker(CALCULATOR_DATA.custom),
}

/** Validates a calculator's data; on failure returns every field error. */
export function validateCalculation(
  calculatorType: CalculatorType,
  calculatorData: unknown,
): ValidationResult<Calculation> {
  const result = validators[calculatorType](calculatorData)
  return result.ok
    ? { ok: true, value: { calculatorType, calculatorData: result.value } as Calculation }
    : result
}
