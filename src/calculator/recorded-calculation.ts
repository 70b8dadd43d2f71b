import { Type, type Static } from '@sinclair/typebox'
import type { Calculation } from './calculator-data.js'
import { Estimate, EstimateLine, Factor, Gases } from './estimate-schema.js'
import { calculateEstimate } from './estimate.js'
import { FrameworkSchema } from './factors/edition.js'

const text = Type.String({ maxLength: 300 })

/**
 * The result and breakdown of a calculation, as stored with an order. Sources of published factors
 * are left out, because they are in the edition, which never changes, and warnings, because they
 * follow from the trip.
 */
export const RecordedCalculation = Type.Object(
  {
    ...Type.Omit(Estimate, ['calculatorType', 'factors', 'dataset', 'warnings']).properties,
    // Orders of earlier versions have no framework and no gases.
    framework: Type.Optional(FrameworkSchema),
    gases: Type.Optional(Gases),
    lines: Type.Array(
      Type.Object({ ...EstimateLine.properties, gases: Type.Optional(Gases) }, { title: 'Line' }),
    ),
    edition: Type.String({
      pattern: '^\\d{4}-\\d{2}$',
      description: 'Edition of the emission factors',
    }),
    method: text,
    factors: Type.Array(
      Type.Object(
        {
          ...Type.Pick(Factor, ['value', 'fuelType', 'line']).properties,
          name: text,
          unit: text,
          source: Type.Optional(text),
        },
        { additionalProperties: false },
      ),
      { maxItems: 200, description: 'Every number used' },
    ),
  },
  {
    title: 'Recorded calculation',
    description: 'The calculation when the order was created, or last recalculated',
    additionalProperties: false,
  },
)
export type RecordedCalculation = Static<typeof RecordedCalculation>

/** Calculates with the newest edition, and returns what is stored with an order. */
export function recordCalculation(calculation: Calculation): RecordedCalculation {
  const estimate = calculateEstimate(calculation)
  return {
    edition: estimate.edition,
    method: estimate.method,
    co2eKg: estimate.co2eKg,
    wellToTankCo2eKg: estimate.wellToTankCo2eKg,
    tankToWakeCo2eKg: estimate.tankToWakeCo2eKg,
    fuelLitres: estimate.fuelLitres,
    fuelKg: estimate.fuelKg,
    hours: estimate.hours,
    guests: estimate.guests,
    co2eKgPerGuest: estimate.co2eKgPerGuest,
    lines: estimate.lines,
    framework: estimate.framework,
    gases: estimate.gases,
    factors: estimate.factors.map(({ name, value, unit, fuelType, line, source, location }) => ({
      name,
      value,
      unit,
      ...(fuelType === undefined ? {} : { fuelType }),
      ...(line === undefined ? {} : { line }),
      // Published factors have a location. Their source is in the edition.
      ...(location === undefined ? { source } : {}),
    })),
  }
}
