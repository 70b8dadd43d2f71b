import type { Calculation } from '../../calculator/calculator-data.js'
import { buildCalculationSteps } from '../../calculator/calculation-steps.js'
import { calculateEstimate, type Estimate } from '../../calculator/estimate.js'
import { buildFactorViews, withSubscripts } from '../../calculator/factor-view.js'
import { findEdition, LATEST_EDITION } from '../../calculator/factors/editions.js'
import { getLineName } from '../../calculator/line-names.js'
import type { RecordedCalculation } from '../../calculator/recorded-calculation.js'
import { withUnit } from '../../formatting/number-formatter.js'
import type { Formatters } from '../formatters.js'

/** A recorded result, with the sources of its factors. */
function restoreEstimate(calculation: Calculation, recorded: RecordedCalculation): Estimate {
  const edition = findEdition(recorded.edition)
  const { factors, ...result } = recorded
  return {
    ...calculateEstimate(calculation, edition ?? LATEST_EDITION),
    ...result,
    // An edition of a later version of Clearwake: the sources are not known.
    ...(edition === null ? { factors: factors.map((one) => ({ source: '', ...one })) } : {}),
  }
}

/**
 * Calculates a trip's emissions with the newest edition, and formats them with their breakdown.
 *
 * @param recorded the calculation to show instead
 */
export function estimateTrip(
  calculation: Calculation,
  format: Formatters,
  recorded: RecordedCalculation | null = null,
) {
  const { numbers } = format
  const edition = recorded === null ? LATEST_EDITION : findEdition(recorded.edition)
  const estimate =
    recorded === null ? calculateEstimate(calculation) : restoreEstimate(calculation, recorded)
  const { co2eKg, wellToTankCo2eKg, tankToWakeCo2eKg, fuelLitres, fuelKg, hours } = estimate
  const hasBar = wellToTankCo2eKg !== null && wellToTankCo2eKg >= 0
  const buildPart = (label: string, kilograms: number | null) =>
    kilograms === null
      ? []
      : [
          {
            label,
            mass: withUnit(format.kilograms(kilograms), 'kg'),
            percent: (kilograms / co2eKg) * 100,
            share: hasBar ? format.percent(kilograms / co2eKg) : '',
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
    hasBar,
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
    steps: edition === null ? [] : buildCalculationSteps(calculation, numbers, edition),
    factors: buildFactorViews(estimate.factors, numbers),
  }
}

export type TripEstimate = ReturnType<typeof estimateTrip>
