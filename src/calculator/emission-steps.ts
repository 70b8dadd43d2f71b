import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import type { MassBasedFuel, VolumeBasedFuel } from './factors/edition.js'
import { toEmissionsPerKilogram, type FuelPart, type Gwp100 } from './fuel-emissions.js'

/** One line of the calculation breakdown: `Mass of the fuel: 500 l × 0.854 kg/l = 427 kg`. */
export interface CalculationStep {
  label: string
  formula: string
  result: string
}

interface StepOptions {
  numbers: NumberFormatter
  gwp100: Gwp100
  isGivenByMass: boolean
  /** Name of the fuel if the line has more than one fuel */
  prefix: string
}

export const formatCo2e = (kilograms: number, { significant }: NumberFormatter): string =>
  `${significant(kilograms)} kg CO₂e`

/** Builds the steps from an amount of one fuel to its CO2e. */
export function buildPartSteps(
  part: FuelPart,
  { numbers, gwp100, isGivenByMass, prefix }: StepOptions,
): CalculationStep[] {
  const { fuel } = part
  const volume = `${numbers.significant(part.litres)} l`
  const mass = `${numbers.significant(part.kilograms)} kg`
  const density = `${numbers.exact(fuel.density.value)} kg/l`
  const steps: CalculationStep[] = []
  if (fuel.basis === 'mass') {
    if (!isGivenByMass) {
      steps.push({ label: 'Mass of the fuel', formula: `${volume} × ${density}`, result: mass })
    }
    steps.push(...buildMassBasedSteps(fuel, part, gwp100, numbers))
  } else {
    if (isGivenByMass) {
      steps.push({ label: 'Volume of the fuel', formula: `${mass} ÷ ${density}`, result: volume })
    }
    steps.push(...buildVolumeBasedSteps(fuel, part, numbers))
  }
  return steps.map((step) => ({ ...step, label: prefix + step.label }))
}

function buildVolumeBasedSteps(
  { wellToTank, tankToWake }: VolumeBasedFuel,
  { litres, wellToTankCo2eKg, tankToWakeCo2eKg }: FuelPart,
  numbers: NumberFormatter,
): CalculationStep[] {
  const toStep = (label: string, factor: number, kilograms: number): CalculationStep => ({
    label,
    formula: `${numbers.significant(litres)} l × ${numbers.exact(factor)} kg CO₂e/l`,
    result: formatCo2e(kilograms, numbers),
  })
  return [
    toStep('Well-to-tank', wellToTank.value, wellToTankCo2eKg),
    toStep('Tank-to-wake', tankToWake.value, tankToWakeCo2eKg),
  ]
}

/** A certified value includes the CO2 from burning the fuel, so it is deducted here. */
const CERTIFIED_LABELS = {
  bio: 'Well-to-tank of the biofuel: certified value less the CO₂ that its plants took up',
  rfnbo: 'Well-to-tank of the e-fuel: certified value less the CO₂ of its combustion',
} as const

function buildMassBasedSteps(
  fuel: MassBasedFuel,
  part: FuelPart,
  gwp100: Gwp100,
  numbers: NumberFormatter,
): CalculationStep[] {
  const { exact } = numbers
  const { lowerCalorificValue, wellToTank, co2, ch4, n2o, methaneSlip } = fuel
  const { certificate } = part
  const mass = `${numbers.significant(part.kilograms)} kg`
  const perMegajoule = certificate?.gCo2ePerMj ?? wellToTank?.value ?? 0
  const supply = `${exact(lowerCalorificValue.value)} MJ/kg × ${exact(perMegajoule)} g CO₂e/MJ ÷ ${exact(1000)}`
  const methane = exact(gwp100.ch4.value)
  const combustion = `${exact(co2.value)} + ${exact(ch4.value)} × ${methane} + ${exact(n2o.value)} × ${exact(gwp100.n2o.value)}`
  const { tankToWake } = toEmissionsPerKilogram(fuel, gwp100, certificate)
  const perKilogram = exact(Number(tankToWake.toPrecision(6)))
  return [
    {
      label: certificate === null ? 'Well-to-tank' : CERTIFIED_LABELS[certificate.as],
      formula:
        certificate === null
          ? `${mass} × ${supply}`
          : `${mass} × (${supply} − ${exact(co2.value)})`,
      result: formatCo2e(part.wellToTankCo2eKg, numbers),
    },
    {
      label: 'Tank-to-wake per kilogram of fuel',
      formula: methaneSlip
        ? `${exact(1 - methaneSlip.value)} × (${combustion}) + ${exact(methaneSlip.value)} × ${methane}`
        : combustion,
      result: `${perKilogram} kg CO₂e`,
    },
    {
      label: 'Tank-to-wake',
      formula: `${mass} × ${perKilogram}`,
      result: formatCo2e(part.tankToWakeCo2eKg, numbers),
    },
  ]
}
