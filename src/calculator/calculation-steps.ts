import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Calculation, DistanceData, FuelLine } from './calculator-data.js'
import { getLineName } from './describe-trip.js'
import {
  DEFAULT_FRAMEWORK,
  getGwp100,
  type Edition,
  type MassBasedFuel,
  type VolumeBasedFuel,
} from './factors/edition.js'
import { LATEST_EDITION, type BurntFuelType } from './factors/editions.js'
import {
  calculateLine,
  toEmissionsPerKilogram,
  type FuelPart,
  type Gwp100,
  type LineEmissions,
} from './fuel-emissions.js'
import { calculateDistanceFuel, getTripLines, type BurntLine } from './trip-lines.js'
import { isMassUnit, KILOGRAMS_PER, KILOMETRES_PER, LITRES_PER, UNIT_SYMBOLS } from './units.js'

/** One line of the calculation breakdown: `Mass of the fuel: 500 l × 0.854 kg/l = 427 kg`. */
interface CalculationStep {
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

const formatCo2e = (kilograms: number, { significant }: NumberFormatter): string =>
  `${significant(kilograms)} kg CO₂e`

/** Builds the steps from an amount of one fuel to its CO2e. */
function buildPartSteps(
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

/** The steps of one line of a trip, or of the total. */
interface StepGroup {
  /** `null` if the trip has only one line */
  title: string | null
  steps: CalculationStep[]
}

/**
 * The steps from entered values to the result, with numbers formatted by `numbers`.
 *
 * @param edition edition of the emission factors; defaults to the newest
 */
export function buildCalculationSteps(
  calculation: Calculation,
  numbers: NumberFormatter,
  edition: Edition<BurntFuelType> = LATEST_EDITION,
): StepGroup[] {
  if (calculation.calculatorType === 'custom') {
    const { amount, unit, guests } = calculation.calculatorData
    const kilograms = amount * KILOGRAMS_PER[unit]
    const formula = formatConversion(amount, UNIT_SYMBOLS[unit], KILOGRAMS_PER[unit], numbers)
    const total = { label: 'Well-to-wake', formula, result: formatCo2e(kilograms, numbers) }
    return [{ title: null, steps: [total, ...buildGuestStep(kilograms, guests, numbers)] }]
  }
  const { calculatorType, calculatorData } = calculation
  const { guests, framework = DEFAULT_FRAMEWORK, furtherLines = [] } = calculatorData
  const gwp100 = getGwp100(framework, edition)
  const results = getTripLines(calculation).map((line) => calculateLine(edition, gwp100, line))
  const inputs = [
    calculatorType === 'fuel'
      ? buildQuantitySteps(calculatorData, numbers)
      : buildDistanceSteps(calculatorData, numbers),
    ...furtherLines.map((line) => buildQuantitySteps(line, numbers)),
  ]
  const groups = results.map((result, i) => ({
    title: results.length === 1 ? null : `${i + 1}. ${getLineName(result.line)}`,
    steps: [...(inputs[i] ?? []), ...buildLineSteps(result, edition, gwp100, numbers)],
  }))
  const total = results.reduce((sum, { co2eKg }) => sum + co2eKg, 0)
  const guestStep = buildGuestStep(total, guests, numbers)
  if (results.length === 1) {
    return groups.map((group) => ({ ...group, steps: [...group.steps, ...guestStep] }))
  }
  const sum: CalculationStep = {
    label: 'Well-to-wake',
    formula: results.map(({ co2eKg }) => numbers.significant(co2eKg)).join(' + '),
    result: formatCo2e(total, numbers),
  }
  return [...groups, { title: 'Total', steps: [sum, ...guestStep] }]
}

function buildLineSteps(
  result: LineEmissions,
  edition: Edition<BurntFuelType>,
  gwp100: Gwp100,
  numbers: NumberFormatter,
): CalculationStep[] {
  const { significant, exact } = numbers
  const { line, parts } = result
  const total = { label: 'Well-to-wake', result: formatCo2e(result.co2eKg, numbers) }
  if (line.fuelType === 'electricity') {
    const formula = `${significant(line.kilowattHours)} kWh × ${exact(line.kgCo2ePerKwh)} kg CO₂e/kWh`
    return [{ ...total, formula }]
  }
  const isGivenByMass = 'kilograms' in line.amount && line.hvoPercent === 0
  return [
    ...buildBlendSteps(line, result, edition, numbers),
    ...parts.flatMap((part) => {
      const prefix = parts.length === 1 ? '' : `${part.fuel.name}: `
      return buildPartSteps(part, { numbers, gwp100, isGivenByMass, prefix })
    }),
    {
      ...total,
      formula: parts
        .flatMap(({ wellToTankCo2eKg, tankToWakeCo2eKg }) => [wellToTankCo2eKg, tankToWakeCo2eKg])
        .map(significant)
        .join(' + '),
    },
  ]
}

/** Splits a blend into its fuels by volume. */
function buildBlendSteps(
  line: BurntLine,
  { parts, fuelLitres }: LineEmissions,
  { fuels }: Edition<BurntFuelType>,
  numbers: NumberFormatter,
): CalculationStep[] {
  if (line.hvoPercent === 0 || fuelLitres === null) return []
  const { significant, exact } = numbers
  const share = line.hvoPercent / 100
  const steps: CalculationStep[] = []
  if ('kilograms' in line.amount) {
    const density = `(${exact(fuels.mgo.density.value)} × ${exact(Number((1 - share).toPrecision(6)))} + ${exact(fuels.hvo.density.value)} × ${exact(share)})`
    steps.push({
      label: 'Volume of the blend',
      formula: `${significant(line.amount.kilograms)} kg ÷ ${density} kg/l`,
      result: `${significant(fuelLitres)} l`,
    })
  }
  return [
    ...steps,
    ...parts.map(({ fuelType, fuel, litres }) => ({
      label: fuel.name,
      formula: `${significant(fuelLitres)} l × ${formatShare(fuelType === 'hvo' ? share : 1 - share, numbers)}`,
      result: `${significant(litres)} l`,
    })),
  ]
}

/**
 * Formats a share as a percentage if it is a whole number, otherwise as a ratio with all digits.
 */
function formatShare(share: number, { percent, exact }: NumberFormatter): string {
  const rounded = Number(share.toPrecision(6))
  return Number.isInteger(Number((rounded * 100).toPrecision(6)))
    ? percent(rounded)
    : exact(rounded)
}

function buildQuantitySteps(
  { quantity, unit }: Pick<FuelLine, 'quantity' | 'unit'>,
  numbers: NumberFormatter,
): CalculationStep[] {
  if (unit === 'kWh') return []
  const [factor, base] = isMassUnit(unit)
    ? ([KILOGRAMS_PER[unit], 'kg'] as const)
    : ([LITRES_PER[unit], 'l'] as const)
  return [
    {
      label: 'Fuel',
      formula: formatConversion(quantity, UNIT_SYMBOLS[unit], factor, numbers),
      result: `${numbers.significant(quantity * factor)} ${base}`,
    },
  ]
}

function buildDistanceSteps(data: DistanceData, numbers: NumberFormatter): CalculationStep[] {
  const { exact, significant } = numbers
  const { distance, distanceUnit, speedKn, consumption, consumptionUnit } = data
  const { referenceSpeedKn, generatorLitresPerHour } = data
  const fuel = calculateDistanceFuel(data)
  const miles = `${significant(fuel.nauticalMiles)} nmi`
  const hours = `${significant(fuel.hours)} h`
  const isPerHour = consumptionUnit === 'l/h'
  const rate = `${significant(fuel.rate)} ${consumptionUnit}`
  const steps: CalculationStep[] = []
  if (distanceUnit !== 'nmi') {
    const toKilometres = distanceUnit === 'mi' ? ` × ${exact(KILOMETRES_PER.mi)}` : ''
    steps.push({
      label: 'Distance',
      formula: `${exact(distance)} ${distanceUnit}${toKilometres} ÷ ${exact(KILOMETRES_PER.nmi)}`,
      result: miles,
    })
  }
  steps.push({
    label: 'Time under way',
    formula: `${miles} ÷ ${exact(speedKn)} kn`,
    result: hours,
  })
  if (referenceSpeedKn !== undefined) {
    const exponent = isPerHour ? '³' : '²'
    const ratio = `(${exact(speedKn)} ÷ ${exact(referenceSpeedKn)})${exponent}`
    steps.push({
      label: 'Consumption at this speed',
      formula: `${exact(consumption)} ${consumptionUnit} × ${ratio}`,
      result: rate,
    })
  }
  steps.push({
    label: 'Engines',
    formula: `${rate} × ${isPerHour ? hours : miles}`,
    result: `${significant(fuel.engineLitres)} l`,
  })
  if (generatorLitresPerHour && fuel.generatorHours > 0) {
    steps.push({
      label: 'Generators',
      formula: `${exact(generatorLitresPerHour)} l/h × ${significant(fuel.generatorHours)} h`,
      result: `${significant(fuel.generatorLitres)} l`,
    })
  }
  return steps
}

function buildGuestStep(
  kilograms: number,
  guests: number | undefined,
  numbers: NumberFormatter,
): CalculationStep[] {
  if (guests === undefined) return []
  return [
    {
      label: 'Per person',
      formula: `${numbers.significant(kilograms)} kg ÷ ${numbers.exact(guests)}`,
      result: formatCo2e(kilograms / guests, numbers),
    },
  ]
}

/** `12 imp gal × 4.54609`, or `12 l` if the unit is already the base unit. */
const formatConversion = (
  amount: number,
  symbol: string,
  factor: number,
  { exact }: NumberFormatter,
): string => `${exact(amount)} ${symbol}${factor === 1 ? '' : ` × ${exact(factor)}`}`
