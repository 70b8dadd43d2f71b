import type { Calculation, CustomData, DistanceData, FuelData } from './calculator-data.js'
import { calculateDistanceFuel } from './distance-fuel.js'
import { FUELS, GWP100, type Fuel, type FuelType } from './emission-factors.js'
import {
  toEmissionsPerKilogram,
  calculateFuelEmissions,
  type FuelEmissions,
} from './fuel-emissions.js'
import { formatExact as exact, formatSignificant as show } from './number-format.js'
import { isMassUnit, KILOGRAMS_PER, KILOMETRES_PER, LITRES_PER, UNIT_SYMBOLS } from './units.js'

/** One line of the sum as it would be done by hand. */
export interface CalculationStep {
  label: string
  sum: string
  result: string
}

const step = (label: string, sum: string, result: string): CalculationStep => ({
  label,
  sum,
  result,
})

const co2e = (kilograms: number): string => `${show(kilograms)} kg CO₂e`

const total = (sum: string, kilograms: number): CalculationStep =>
  step('Well-to-wake', sum, co2e(kilograms))

/** `12 imp gal × 4.54609`, or just `12 l` where the unit is the base unit already. */
const converted = (amount: number, symbol: string, factor: number): string =>
  `${exact(amount)} ${symbol}${factor === 1 ? '' : ` × ${exact(factor)}`}`

const mass = (fuelType: FuelType, { fuelLitres, fuelKg }: FuelEmissions): CalculationStep =>
  step(
    'Mass of the fuel',
    `${show(fuelLitres)} l × ${FUELS[fuelType].density.value} kg/l`,
    `${show(fuelKg)} kg`,
  )

const volume = (fuelType: FuelType, { fuelLitres, fuelKg }: FuelEmissions): CalculationStep =>
  step(
    'Volume of the fuel',
    `${show(fuelKg)} kg ÷ ${FUELS[fuelType].density.value} kg/l`,
    `${show(fuelLitres)} l`,
  )

/** From the fuel burnt to what it emits. */
function emitted(fuelType: FuelType, emissions: FuelEmissions): CalculationStep[] {
  const fuel: Fuel = FUELS[fuelType]
  const { fuelLitres, fuelKg, wellToTankCo2eKg, tankToWakeCo2eKg, co2eKg } = emissions
  const sum = total(`${show(wellToTankCo2eKg)} + ${show(tankToWakeCo2eKg)}`, co2eKg)
  if (fuel.basis === 'volume') {
    const burnt = (factor: number): string => `${show(fuelLitres)} l × ${factor} kg CO₂e/l`
    return [
      step('Well-to-tank', burnt(fuel.wellToTank.value), co2e(wellToTankCo2eKg)),
      step('Tank-to-wake', burnt(fuel.tankToWake.value), co2e(tankToWakeCo2eKg)),
      sum,
    ]
  }
  const { lowerCalorificValue, wellToTank, co2, ch4, n2o, methaneSlip } = fuel
  const kilograms = `${show(fuelKg)} kg`
  const burning = `${co2.value} + ${exact(ch4.value)} × ${GWP100.ch4} + ${exact(n2o.value)} × ${GWP100.n2o}`
  const perKilogram = exact(Number(toEmissionsPerKilogram(fuel).tankToWake.toPrecision(6)))
  return [
    step(
      'Well-to-tank',
      `${kilograms} × ${lowerCalorificValue.value} MJ/kg × ${wellToTank.value} g CO₂e/MJ ÷ 1000`,
      co2e(wellToTankCo2eKg),
    ),
    step(
      'Tank-to-wake, one kilogram of fuel',
      methaneSlip
        ? `${1 - methaneSlip.value} × (${burning}) + ${methaneSlip.value} × ${GWP100.ch4}`
        : burning,
      `${perKilogram} kg CO₂e`,
    ),
    step('Tank-to-wake', `${kilograms} × ${perKilogram}`, co2e(tankToWakeCo2eKg)),
    sum,
  ]
}

function fuelWorking({ fuelType, quantity, unit }: FuelData): CalculationStep[] {
  const byMass = FUELS[fuelType].basis === 'mass'
  if (isMassUnit(unit)) {
    const emissions = calculateFuelEmissions(fuelType, {
      kilograms: quantity * KILOGRAMS_PER[unit],
    })
    const sum = converted(quantity, UNIT_SYMBOLS[unit], KILOGRAMS_PER[unit])
    const fuel = step('Fuel', sum, `${show(emissions.fuelKg)} kg`)
    return [fuel, ...(byMass ? [] : [volume(fuelType, emissions)]), ...emitted(fuelType, emissions)]
  }
  const emissions = calculateFuelEmissions(fuelType, { litres: quantity * LITRES_PER[unit] })
  const sum = converted(quantity, UNIT_SYMBOLS[unit], LITRES_PER[unit])
  const fuel = step('Fuel', sum, `${show(emissions.fuelLitres)} l`)
  return [fuel, ...(byMass ? [mass(fuelType, emissions)] : []), ...emitted(fuelType, emissions)]
}

function distanceWorking(data: DistanceData): CalculationStep[] {
  const { distance, distanceUnit, speedKn, consumption, consumptionUnit, fuelType } = data
  const { referenceSpeedKn, generatorLitresPerHour } = data
  const sums = calculateDistanceFuel(data)
  const [miles, hours] = [`${show(sums.nauticalMiles)} nmi`, `${show(sums.hours)} h`]
  const perHour = consumptionUnit === 'l/h'
  const steps: CalculationStep[] = []
  if (distanceUnit === 'km')
    steps.push(step('Distance', `${exact(distance)} km ÷ ${KILOMETRES_PER.nmi}`, miles))
  if (distanceUnit === 'mi') {
    steps.push(
      step(
        'Distance',
        `${exact(distance)} mi × ${KILOMETRES_PER.mi} ÷ ${KILOMETRES_PER.nmi}`,
        miles,
      ),
    )
  }
  steps.push(step('Time under way', `${miles} ÷ ${exact(speedKn)} kn`, hours))
  if (referenceSpeedKn !== undefined) {
    const ratio = `(${exact(speedKn)} ÷ ${exact(referenceSpeedKn)})${perHour ? '³' : '²'}`
    steps.push(
      step(
        'Consumption at this speed',
        `${exact(consumption)} ${consumptionUnit} × ${ratio}`,
        `${show(sums.rate)} ${consumptionUnit}`,
      ),
    )
  }
  steps.push(
    step(
      'Engines',
      `${show(sums.rate)} ${consumptionUnit} × ${perHour ? hours : miles}`,
      `${show(sums.engineLitres)} l`,
    ),
  )
  if (generatorLitresPerHour && sums.generatorHours > 0) {
    steps.push(
      step(
        'Generators',
        `${exact(generatorLitresPerHour)} l/h × ${show(sums.generatorHours)} h`,
        `${show(sums.generatorLitres)} l`,
      ),
    )
  }
  const emissions = calculateFuelEmissions(fuelType, {
    litres: sums.engineLitres + sums.generatorLitres,
  })
  const byMass = FUELS[fuelType].basis === 'mass'
  return [...steps, ...(byMass ? [mass(fuelType, emissions)] : []), ...emitted(fuelType, emissions)]
}

function customWorking({ amount, unit }: CustomData): CalculationStep[] {
  const factor = KILOGRAMS_PER[unit]
  return [total(converted(amount, unit, factor), amount * factor)]
}

/** The sum behind a calculation's result, line by line, with the numbers as they go in. */
export function buildCalculationSteps(calculation: Calculation): CalculationStep[] {
  switch (calculation.calculatorType) {
    case 'fuel':
      return fuelWorking(calculation.calculatorData)
    case 'distance':
      return distanceWorking(calculation.calculatorData)
    case 'custom':
      return customWorking(calculation.calculatorData)
  }
}
