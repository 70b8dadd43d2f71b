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
export function buildPartSteps(part: FuelPart, options: StepOptions): CalculationStep[] {
  const { fuel } = part
  const { isGivenByMass, numbers, prefix } = options
  const usesMass = fuel.basis === 'mass'
  const steps: CalculationStep[] = []
  if (usesMass && !isGivenByMass) steps.push(buildMassStep(part, numbers))
  if (!usesMass && isGivenByMass) steps.push(buildVolumeStep(part, numbers))
  if (usesMass) steps.push(...buildMassBasedSteps(fuel, part, options))
  else steps.push(...buildVolumeBasedSteps(fuel, part, numbers))
  return steps.map((step) => ({ ...step, label: prefix + step.label }))
}

const buildMassStep = (
  { litres, kilograms, fuel }: FuelPart,
  { exact, significant }: NumberFormatter,
): CalculationStep => ({
  label: 'Mass of the fuel',
  formula: `${significant(litres)} l × ${exact(fuel.density.value)} kg/l`,
  result: `${significant(kilograms)} kg`,
})

const buildVolumeStep = (
  { litres, kilograms, fuel }: FuelPart,
  { exact, significant }: NumberFormatter,
): CalculationStep => ({
  label: 'Volume of the fuel',
  formula: `${significant(kilograms)} kg ÷ ${exact(fuel.density.value)} kg/l`,
  result: `${significant(litres)} l`,
})

const buildResults = (
  { wellToTankCo2eKg, tankToWakeCo2eKg }: FuelPart,
  numbers: NumberFormatter,
) => ({
  wellToTank: { label: 'Well-to-tank', result: formatCo2e(wellToTankCo2eKg, numbers) },
  tankToWake: { label: 'Tank-to-wake', result: formatCo2e(tankToWakeCo2eKg, numbers) },
})

function buildVolumeBasedSteps(
  fuel: VolumeBasedFuel,
  part: FuelPart,
  numbers: NumberFormatter,
): CalculationStep[] {
  const formula = (factor: number): string =>
    `${numbers.significant(part.litres)} l × ${numbers.exact(factor)} kg CO₂e/l`
  const { wellToTank, tankToWake } = buildResults(part, numbers)
  return [
    { ...wellToTank, formula: formula(fuel.wellToTank.value) },
    { ...tankToWake, formula: formula(fuel.tankToWake.value) },
  ]
}

function formatCombustion(
  { co2, ch4, n2o }: MassBasedFuel,
  { gwp100, numbers: { exact } }: StepOptions,
): string {
  return `${exact(co2.value)} + ${exact(ch4.value)} × ${exact(gwp100.ch4.value)} + ${exact(n2o.value)} × ${exact(gwp100.n2o.value)}`
}

/** Builds the steps for tank-to-wake emissions: per kilogram of fuel, then for the whole amount. */
function buildTankToWakeSteps(
  part: FuelPart,
  perKilogram: number,
  formula: string,
  { numbers }: StepOptions,
): CalculationStep[] {
  const rounded = numbers.exact(Number(perKilogram.toPrecision(6)))
  return [
    { label: 'Tank-to-wake per kilogram of fuel', formula, result: `${rounded} kg CO₂e` },
    {
      ...buildResults(part, numbers).tankToWake,
      formula: `${numbers.significant(part.kilograms)} kg × ${rounded}`,
    },
  ]
}

function buildMassBasedSteps(
  fuel: MassBasedFuel,
  part: FuelPart,
  options: StepOptions,
): CalculationStep[] {
  const { numbers, gwp100 } = options
  const { exact } = numbers
  const { methaneSlip } = fuel
  const combustion = formatCombustion(fuel, options)
  const perKilogramFormula = methaneSlip
    ? `${exact(1 - methaneSlip.value)} × (${combustion}) + ${exact(methaneSlip.value)} × ${exact(gwp100.ch4.value)}`
    : combustion
  const { tankToWake } = toEmissionsPerKilogram(fuel, gwp100, part.certificate)
  return [
    buildWellToTankStep(fuel, part, numbers),
    ...buildTankToWakeSteps(part, tankToWake, perKilogramFormula, options),
  ]
}

/** A certified value includes the CO2 from burning the fuel, so it is deducted here. */
const CERTIFIED_LABELS = {
  bio: 'Well-to-tank of the biofuel: certified value less the CO₂ that its plants took up',
  rfnbo: 'Well-to-tank of the e-fuel: certified value less the CO₂ of its combustion',
} as const

function buildWellToTankStep(
  { lowerCalorificValue, wellToTank, co2 }: MassBasedFuel,
  part: FuelPart,
  numbers: NumberFormatter,
): CalculationStep {
  const { exact, significant } = numbers
  const { certificate, kilograms } = part
  const perMegajoule = certificate?.gCo2ePerMj ?? wellToTank?.value ?? 0
  const perKilogram = `${exact(lowerCalorificValue.value)} MJ/kg × ${exact(perMegajoule)} g CO₂e/MJ ÷ ${exact(1000)}`
  const step = buildResults(part, numbers).wellToTank
  const amount = `${significant(kilograms)} kg`
  return certificate === null
    ? { ...step, formula: `${amount} × ${perKilogram}` }
    : {
        ...step,
        label: CERTIFIED_LABELS[certificate.as],
        formula: `${amount} × (${perKilogram} − ${exact(co2.value)})`,
      }
}
