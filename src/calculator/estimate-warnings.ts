import type { Calculation, DistanceData, FuelLine } from './calculator-data.js'
import type { EstimateWarning } from './estimate-schema.js'

/** Ratios of speed to reference speed for which the propeller law is a fair estimate. */
const MIN_SPEED_RATIO = 0.5
const MAX_SPEED_RATIO = 1.5

/** What may make the result of a valid calculation misleading. */
export function findWarnings({ calculatorType, calculatorData }: Calculation): EstimateWarning[] {
  if (calculatorType === 'custom') return []
  const lines = calculatorData.furtherLines ?? []
  return [
    ...(calculatorType === 'distance' ? findDistanceWarnings(calculatorData) : []),
    ...findLineWarnings(calculatorData, ''),
    ...lines.flatMap((line, i) => findLineWarnings(line, `furtherLines.${i}.`)),
  ]
}

function findDistanceWarnings(trip: DistanceData): EstimateWarning[] {
  const { generatorLitresPerHour = 0, generatorHours, speedKn, referenceSpeedKn } = trip
  const warnings: EstimateWarning[] = []
  if (generatorLitresPerHour > 0 && generatorHours === undefined) {
    warnings.push({
      code: 'generator_hours_assumed',
      path: 'generatorHours',
      message:
        'Generators are calculated for the time under way only. If they also ran at anchor or in port, enter their hours for the whole trip.',
    })
  }
  const ratio = speedKn / (referenceSpeedKn ?? speedKn)
  if (ratio < MIN_SPEED_RATIO || ratio > MAX_SPEED_RATIO) {
    warnings.push({
      code: 'speed_outside_reference',
      path: 'referenceSpeedKn',
      message:
        'The speed is less than half or more than one and a half times the reference speed, where the propeller law is unreliable. Enter the consumption at a speed closer to that of the trip.',
    })
  }
  return warnings
}

type WarnedFields = Partial<
  Pick<FuelLine, 'certifiedGCo2ePerMj' | 'certificateReference' | 'use' | 'fuelType'>
>

function findLineWarnings(
  { certifiedGCo2ePerMj, certificateReference, use, fuelType }: WarnedFields,
  prefix: string,
): EstimateWarning[] {
  const warnings: EstimateWarning[] = []
  if (certifiedGCo2ePerMj !== undefined && certificateReference === undefined) {
    warnings.push({
      code: 'certificate_reference_missing',
      path: `${prefix}certificateReference`,
      message:
        'A certified value needs the number of the proof of sustainability and its scheme, so that it can be checked.',
    })
  }
  if (use === 'shore-power' && fuelType !== 'electricity') {
    warnings.push({
      code: 'shore_power_not_electric',
      path: `${prefix}fuelType`,
      message:
        'Shore power is electricity, but this line burns a fuel. Choose electricity, or another use.',
    })
  }
  return warnings
}
