import type { Calculation } from '../../calculator/calculator-data.js'
import { buildCalculationSteps } from '../../calculator/calculation-steps.js'
import { calculateEstimate } from '../../calculator/estimate.js'
import { buildFactorViews, withSubscripts } from '../../calculator/factor-view.js'
import { getLineName } from '../../calculator/line-names.js'
import { withUnit } from '../../formatting/number-formatter.js'
import type { Formatters } from '../formatters.js'

/** Calculates a trip's emissions and formats them with their breakdown. */
export function estimateTrip(calculation: Calculation, format: Formatters) {
  const { numbers } = format
  const estimate = calculateEstimate(calculation)
  const { co2eKg, wellToTankCo2eKg, tankToWakeCo2eKg, fuelLitres, fuelKg, hours } = estimate
  const buildPart = (label: string, kilograms: number | null) =>
    kilograms === null
      ? []
      : [
          {
            label,
            mass: withUnit(format.kilograms(kilograms), 'kg'),
            percent: (kilograms / co2eKg) * 100,
            share: format.percent(kilograms / co2eKg),
          },
        ]
  const buildFact = (label: string, value: number | null, unit: string) =>
    value === null ? [] : [{ label, value: withUnit(numbers.significant(value), unit) }]
  return {
    co2eKg,
    total: format.kilograms(co2eKg),
    parts: [
      ...buildPart('Burning the fuel', tankToWakeCo2eKg),
      ...buildPart('Supplying the fuel', wellToTankCo2eKg),
    ],
    lines:
      estimate.lines.length > 1
        ? estimate.lines.map((line) => ({
            name: getLineName(line),
            mass: withUnit(format.kilograms(line.co2eKg), 'kg'),
            share: format.percent(line.co2eKg / co2eKg),
          }))
        : [],
    facts: [
      ...buildFact('Per person', estimate.co2eKgPerGuest, 'kg CO₂e'),
      ...buildFact('Fuel', fuelLitres, 'l'),
      ...buildFact('Mass of the fuel', fuelKg, 'kg'),
      ...buildFact('Time under way', hours, 'h'),
    ],
    kilograms: numbers.decimal(co2eKg, 2),
    method: estimate.method,
    edition: estimate.edition,
    dataset: withSubscripts(estimate.dataset),
    steps: buildCalculationSteps(calculation, numbers),
    factors: buildFactorViews(estimate.factors, numbers),
  }
}

export type TripEstimate = ReturnType<typeof estimateTrip>
