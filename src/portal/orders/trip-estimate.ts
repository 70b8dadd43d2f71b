import type { Calculation } from '../../calculator/calculator-data.js'
import { calculateEstimate } from '../../calculator/estimate.js'
import { buildCalculationSteps } from '../../calculator/calculation-steps.js'
import type { Formatters } from '../formatters.js'

const fourDigits = (value: number): number =>
  value >= 1000 ? Math.round(value) : Number(value.toPrecision(4))

/** What a trip emits and how that comes about, in an administrator's figures. */
export function estimateTrip(calculation: Calculation, figures: Formatters) {
  const result = calculateEstimate(calculation)
  const { co2eKg, wellToTankCo2eKg, tankToWakeCo2eKg, fuelLitres, fuelKg, hours } = result
  const part = (label: string, kilograms: number | null) =>
    kilograms === null
      ? []
      : [
          {
            label,
            mass: `${figures.kilograms(kilograms)}\u00a0kg`,
            percent: (kilograms / co2eKg) * 100,
            share: figures.percent(kilograms / co2eKg),
          },
        ]
  const fact = (label: string, value: number | null, unit: string) =>
    value === null ? [] : [{ label, value: `${figures.exact(fourDigits(value))}\u00a0${unit}` }]
  return {
    co2eKg,
    sum: figures.kilograms(co2eKg),
    parts: [
      ...part('Burning the fuel', tankToWakeCo2eKg),
      ...part('Supplying the fuel', wellToTankCo2eKg),
    ],
    facts: [
      ...fact('Fuel', fuelLitres, 'l'),
      ...fact('Mass of the fuel', fuelKg, 'kg'),
      ...fact('Time under way', hours, 'h'),
    ],
    kilograms: figures.numbers.decimal(co2eKg, 2),
    method: result.method,
    dataset: result.dataset,
    steps: buildCalculationSteps(calculation, figures.numbers),
    factors: result.factors.map((factor) => ({
      ...factor,
      value: figures.numbers.exact(factor.value),
    })),
  }
}

export type TripEstimate = ReturnType<typeof estimateTrip>
