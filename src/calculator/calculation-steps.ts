import type { NumberFormatter } from '../formatting/number-formatter.js'
import type { Calculation, CustomData, DistanceData, FuelData } from './calculator-data.js'
import { calculateDistanceFuel } from './distance-fuel.js'
import {
  FUELS,
  GWP100,
  type Fuel,
  type FuelType,
  type MassBasedFuel,
  type VolumeBasedFuel,
} from './emission-factors.js'
import {
  calculateFuelEmissions,
  toEmissionsPerKilogram,
  type FuelEmissions,
} from './fuel-emissions.js'
import { isMassUnit, KILOGRAMS_PER, KILOMETRES_PER, LITRES_PER, UNIT_SYMBOLS } from './units.js'

/** One line of the calculation breakdown: `Mass of the fuel: 500 l × 0.854 kg/l = 427 kg`. */
export interface CalculationStep {
  label: string
  formula: string
  result: string
}

/** The steps from entered values to the result, with numbers in the notation of `numbers`. */
export function buildCalculationSteps(
  calculation: Calculation,
  numbers: NumberFormatter,
): CalculationStep[] {
  switch (calculation.calculatorType) {
    case 'fuel':
      return buildFuelSteps(calculation.calculatorData, numbers)
    case 'distance':
      return buildDistanceSteps(calculation.calculatorData, numbers)
    case 'custom':
      return buildCustomSteps(calculation.calculatorData, numbers)
  }
}

function buildFuelSteps(
  { fuelType, quantity, unit }: FuelData,
  numbers: NumberFormatter,
): CalculationStep[] {
  const { significant } = numbers
  if (isMassUnit(unit)) {
    const emissions = calculateFuelEmissions(fuelType, {
      kilograms: quantity * KILOGRAMS_PER[unit],
    })
    return [
      {
        label: 'Fuel',
        formula: formatConversion(quantity, UNIT_SYMBOLS[unit], KILOGRAMS_PER[unit], numbers),
        result: `${significant(emissions.fuelKg)} kg`,
      },
      ...(isMassBased(fuelType) ? [] : [buildVolumeStep(fuelType, emissions, numbers)]),
      ...buildEmissionSteps(fuelType, emissions, numbers),
    ]
  }
  const emissions = calculateFuelEmissions(fuelType, { litres: quantity * LITRES_PER[unit] })
  return [
    {
      label: 'Fuel',
      formula: formatConversion(quantity, UNIT_SYMBOLS[unit], LITRES_PER[unit], numbers),
      result: `${significant(emissions.fuelLitres)} l`,
    },
    ...(isMassBased(fuelType) ? [buildMassStep(fuelType, emissions, numbers)] : []),
    ...buildEmissionSteps(fuelType, emissions, numbers),
  ]
}

function buildDistanceSteps(data: DistanceData, numbers: NumberFormatter): CalculationStep[] {
  const { exact, significant } = numbers
  const { distance, distanceUnit, speedKn, consumption, consumptionUnit, fuelType } = data
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
  const emissions = calculateFuelEmissions(fuelType, {
    litres: fuel.engineLitres + fuel.generatorLitres,
  })
  return [
    ...steps,
    ...(isMassBased(fuelType) ? [buildMassStep(fuelType, emissions, numbers)] : []),
    ...buildEmissionSteps(fuelType, emissions, numbers),
  ]
}

function buildCustomSteps(
  { amount, unit }: CustomData,
  numbers: NumberFormatter,
): CalculationStep[] {
  const factor = KILOGRAMS_PER[unit]
  const formula = formatConversion(amount, unit, factor, numbers)
  return [buildTotalStep(formula, amount * factor, numbers)]
}

const isMassBased = (fuelType: FuelType): boolean => FUELS[fuelType].basis === 'mass'

/** `12 imp gal × 4.54609`, or `12 l` if the unit is already the base unit. */
function formatConversion(
  amount: number,
  symbol: string,
  factor: number,
  { exact }: NumberFormatter,
): string {
  return `${exact(amount)} ${symbol}${factor === 1 ? '' : ` × ${exact(factor)}`}`
}

const formatCo2e = (kilograms: number, { significant }: NumberFormatter): string =>
  `${significant(kilograms)} kg CO₂e`

const buildTotalStep = (
  formula: string,
  kilograms: number,
  numbers: NumberFormatter,
): CalculationStep => ({ label: 'Well-to-wake', formula, result: formatCo2e(kilograms, numbers) })

const buildMassStep = (
  fuelType: FuelType,
  { fuelLitres, fuelKg }: FuelEmissions,
  { exact, significant }: NumberFormatter,
): CalculationStep => ({
  label: 'Mass of the fuel',
  formula: `${significant(fuelLitres)} l × ${exact(FUELS[fuelType].density.value)} kg/l`,
  result: `${significant(fuelKg)} kg`,
})

const buildVolumeStep = (
  fuelType: FuelType,
  { fuelLitres, fuelKg }: FuelEmissions,
  { exact, significant }: NumberFormatter,
): CalculationStep => ({
  label: 'Volume of the fuel',
  formula: `${significant(fuelKg)} kg ÷ ${exact(FUELS[fuelType].density.value)} kg/l`,
  result: `${significant(fuelLitres)} l`,
})

/** From fuel burnt to CO2e. */
function buildEmissionSteps(
  fuelType: FuelType,
  emissions: FuelEmissions,
  numbers: NumberFormatter,
): CalculationStep[] {
  const fuel: Fuel = FUELS[fuelType]
  const { wellToTankCo2eKg, tankToWakeCo2eKg, co2eKg } = emissions
  const { significant } = numbers
  return [
    ...(fuel.basis === 'volume'
      ? buildVolumeBasedSteps(fuel, emissions, numbers)
      : buildMassBasedSteps(fuel, emissions, numbers)),
    buildTotalStep(
      `${significant(wellToTankCo2eKg)} + ${significant(tankToWakeCo2eKg)}`,
      co2eKg,
      numbers,
    ),
  ]
}

function buildVolumeBasedSteps(
  fuel: VolumeBasedFuel,
  { fuelLitres, wellToTankCo2eKg, tankToWakeCo2eKg }: FuelEmissions,
  numbers: NumberFormatter,
): CalculationStep[] {
  const formula = (factor: number): string =>
    `${numbers.significant(fuelLitres)} l × ${numbers.exact(factor)} kg CO₂e/l`
  return [
    {
      label: 'Well-to-tank',
      formula: formula(fuel.wellToTank.value),
      result: formatCo2e(wellToTankCo2eKg, numbers),
    },
    {
      label: 'Tank-to-wake',
      formula: formula(fuel.tankToWake.value),
      result: formatCo2e(tankToWakeCo2eKg, numbers),
    },
  ]
}

function buildMassBasedSteps(
  fuel: MassBasedFuel,
  { fuelKg, wellToTankCo2eKg, tankToWakeCo2eKg }: FuelEmissions,
  numbers: NumberFormatter,
): CalculationStep[] {
  const { exact, significant } = numbers
  const { lowerCalorificValue, wellToTank, co2, ch4, n2o, methaneSlip } = fuel
  const kilograms = `${significant(fuelKg)} kg`
  const combustion = `${exact(co2.value)} + ${exact(ch4.value)} × ${exact(GWP100.ch4)} + ${exact(n2o.value)} × ${exact(GWP100.n2o)}`
  const perKilogram = exact(Number(toEmissionsPerKilogram(fuel).tankToWake.toPrecision(6)))
  return [
    {
      label: 'Well-to-tank',
      formula: `${kilograms} × ${exact(lowerCalorificValue.value)} MJ/kg × ${exact(wellToTank.value)} g CO₂e/MJ ÷ ${exact(1000)}`,
      result: formatCo2e(wellToTankCo2eKg, numbers),
    },
    {
      label: 'Tank-to-wake per kilogram of fuel',
      formula: methaneSlip
        ? `${exact(1 - methaneSlip.value)} × (${combustion}) + ${exact(methaneSlip.value)} × ${exact(GWP100.ch4)}`
        : combustion,
      result: `${perKilogram} kg CO₂e`,
    },
    {
      label: 'Tank-to-wake',
      formula: `${kilograms} × ${perKilogram}`,
      result: formatCo2e(tankToWakeCo2eKg, numbers),
    },
  ]
}
