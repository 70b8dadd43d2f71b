import { buildBreakdown } from '../../calculator/breakdown-view.js'
import { buildCalculationSteps } from '../../calculator/calculation-steps.js'
import type { Calculation } from '../../calculator/calculator-data.js'
import type { Estimate } from '../../calculator/estimate-schema.js'
import { calculateEstimate } from '../../calculator/estimate.js'
import {
  buildFactorViews,
  buildFrameworkView,
  withSubscripts,
} from '../../calculator/factor-view.js'
import { findEdition, LATEST_EDITION } from '../../calculator/factors/editions.js'
import { UNKNOWN_GASES } from '../../calculator/fuel-emissions.js'
import type { RecordedCalculation } from '../../calculator/recorded-calculation.js'
import type { Formatters } from '../../core/formatting/formatters.js'

/** A recorded result, with the sources of its factors. */
function restoreEstimate(calculation: Calculation, recorded: RecordedCalculation): Estimate {
  const edition = findEdition(recorded.edition)
  const { factors, lines, ...result } = recorded
  const estimate = calculateEstimate(calculation, edition ?? LATEST_EDITION)
  return {
    ...estimate,
    ...result,
    lines: lines.map((line, i) => ({ gases: estimate.lines[i]?.gases ?? UNKNOWN_GASES, ...line })),
    // The edition is from a later version of Clearwake, so its sources are unknown here.
    ...(edition === null ? { factors: factors.map((one) => ({ source: '', ...one })) } : {}),
  }
}

/**
 * Calculates a trip's emissions with the newest edition, and formats them with their breakdown.
 *
 * @param recorded a recorded calculation to format instead
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
  const { co2eKg } = estimate
  return {
    co2eKg,
    total: format.kilograms(co2eKg),
    ...buildBreakdown(calculation, estimate, { unit: 'kg', decimals: 1 }, numbers),
    kilograms: numbers.decimal(co2eKg, 2),
    ...buildFrameworkView(estimate, numbers),
    warnings: estimate.warnings.map(({ message }) => message),
    method: estimate.method,
    edition: estimate.edition,
    dataset: withSubscripts(estimate.dataset),
    steps: edition === null ? [] : buildCalculationSteps(calculation, numbers, edition),
    factors: buildFactorViews(estimate.factors, numbers),
  }
}
