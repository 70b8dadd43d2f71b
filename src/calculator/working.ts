import type { Calculation, DistanceData } from './calculator-data.js'
import { FUELS, GWP100, type Fuel, type FuelType } from './emission-factors.js'
import { distanceSums } from './distance-sums.js'
import type { Estimate } from './estimate.js'
import { emissionsPerKilogram } from './fuel-emissions.js'
import { formatExact, formatSignificant as show } from './number-text.js'
import { isMassUnit, KILOGRAMS_PER, LITRES_PER, NAUTICAL_MILES_PER, UNIT_SYMBOLS } from './units.js'

/** One line of the sum as it would be done by hand. */
export interface WorkingStep {
  label: string
  sum: string
  result: string
}

const step = (label: string, sum: string, result: string): WorkingStep => ({ label, sum, result })

/** `12 imp gal × 4.54609`, or just `12 l` where the unit is the base unit already. */
const converted = (amount: number, symbol: string, factor: number): string =>
  factor === 1
    ? `${formatExact(amount)} ${symbol}`
    : `${formatExact(amount)} ${symbol} × ${formatExact(factor)}`

function fuelledSteps(fuelType: FuelType, estimate: Estimate): WorkingStep[] {
  const fuel: Fuel = FUELS[fuelType]
  const [litres, kilograms] = [show(estimate.fuelLitres ?? 0), show(estimate.fuelKg ?? 0)]
  const results = {
    wellToTank: `${show(estimate.wellToTankCo2eKg ?? 0)} kg CO2e`,
    tankToWake: `${show(estimate.tankToWakeCo2eKg ?? 0)} kg CO2e`,
  }
  if (fuel.basis === 'volume') {
    return [
      step('Well-to-tank', `${litres} l × ${fuel.wellToTank.value} kg CO2e/l`, results.wellToTank),
      step('Tank-to-wake', `${litres} l × ${fuel.tankToWake.value} kg CO2e/l`, results.tankToWake),
    ]
  }
  const { tankToWake } = emissionsPerKilogram(fuel)
  const burnt = `${fuel.co2.value} + ${formatExact(fuel.ch4.value)} × ${GWP100.ch4} + ${formatExact(fuel.n2o.value)} × ${GWP100.n2o}`
  const slip = fuel.methaneSlip?.value
  return [
    step(
      'Well-to-tank',
      `${kilograms} kg × ${fuel.lowerCalorificValue.value} MJ/kg × ${fuel.wellToTank.value} g CO2e/MJ ÷ 1000`,
      results.wellToTank,
    ),
    step(
      'Tank-to-wake, one kilogram of fuel',
      slip === undefined ? burnt : `${1 - slip} × (${burnt}) + ${slip} × ${GWP100.ch4}`,
      `${formatExact(Number(tankToWake.toPrecision(6)))} kg CO2e`,
    ),
    step(
      'Tank-to-wake',
      `${kilograms} kg × ${formatExact(Number(tankToWake.toPrecision(6)))}`,
      results.tankToWake,
    ),
  ]
}

function distanceSteps(data: DistanceData, estimate: Estimate): WorkingStep[] {
  const sums = distanceSums(data)
  const steps = []
  if (data.distanceUnit !== 'nmi') {
    steps.push(
      step(
        'Distance',
        data.distanceUnit === 'km'
          ? `${formatExact(data.distance)} km ÷ 1.852`
          : `${formatExact(data.distance)} mi × 1.609344 ÷ 1.852`,
        `${show(data.distance * NAUTICAL_MILES_PER[data.distanceUnit])} nmi`,
      ),
    )
  }
  steps.push(
    step(
      'Time under way',
      `${show(sums.nauticalMiles)} nmi ÷ ${formatExact(data.speedKn)} kn`,
      `${show(sums.hours)} h`,
    ),
  )
  if (data.referenceSpeedKn !== undefined) {
    steps.push(
      step(
        'Consumption at this speed',
        `${formatExact(data.consumption)} ${data.consumptionUnit} × (${formatExact(data.speedKn)} ÷ ${formatExact(data.referenceSpeedKn)})${data.consumptionUnit === 'l/h' ? '³' : '²'}`,
        `${show(sums.rate)} ${data.consumptionUnit}`,
      ),
    )
  }
  steps.push(
    step(
      'Engines',
      data.consumptionUnit === 'l/h'
        ? `${show(sums.rate)} l/h × ${show(sums.hours)} h`
        : `${show(sums.rate)} l/nmi × ${show(sums.nauticalMiles)} nmi`,
      `${show(sums.engineLitres)} l`,
    ),
  )
  if (data.generatorLitresPerHour !== undefined) {
    steps.push(
      step(
        'Generators',
        `${formatExact(data.generatorLitresPerHour)} l/h × ${show(sums.generatorHours)} h`,
        `${show(sums.generatorLitres)} l`,
      ),
    )
  }
  return [...steps, massStep(data.fuelType, estimate)]
}

const massStep = (fuelType: FuelType, estimate: Estimate): WorkingStep =>
  step(
    'Mass of the fuel',
    `${show(estimate.fuelLitres ?? 0)} l × ${FUELS[fuelType].density.value} kg/l`,
    `${show(estimate.fuelKg ?? 0)} kg`,
  )

/** The sum behind a result, line by line, with the numbers as they went in. */
export function working(calculation: Calculation, estimate: Estimate): WorkingStep[] {
  const total = (parts: string): WorkingStep =>
    step('Well-to-wake', parts, `${show(estimate.co2eKg)} kg CO2e`)
  if (calculation.calculatorType === 'custom') {
    const { amount, unit } = calculation.calculatorData
    return [total(converted(amount, unit, KILOGRAMS_PER[unit]))]
  }
  const sum = total(
    `${show(estimate.wellToTankCo2eKg ?? 0)} + ${show(estimate.tankToWakeCo2eKg ?? 0)}`,
  )
  if (calculation.calculatorType === 'distance') {
    const { calculatorData: data } = calculation
    return [...distanceSteps(data, estimate), ...fuelledSteps(data.fuelType, estimate), sum]
  }
  const { fuelType, quantity, unit } = calculation.calculatorData
  const amount = isMassUnit(unit)
    ? step(
        'Fuel',
        converted(quantity, UNIT_SYMBOLS[unit], KILOGRAMS_PER[unit]),
        `${show(estimate.fuelKg ?? 0)} kg`,
      )
    : step(
        'Fuel',
        converted(quantity, UNIT_SYMBOLS[unit], LITRES_PER[unit]),
        `${show(estimate.fuelLitres ?? 0)} l`,
      )
  const needsMass = !isMassUnit(unit) && FUELS[fuelType].basis === 'mass'
  const needsVolume = isMassUnit(unit) && FUELS[fuelType].basis === 'volume'
  return [
    amount,
    ...(needsMass ? [massStep(fuelType, estimate)] : []),
    ...(needsVolume
      ? [
          step(
            'Volume of the fuel',
            `${show(estimate.fuelKg ?? 0)} kg ÷ ${FUELS[fuelType].density.value} kg/l`,
            `${show(estimate.fuelLitres ?? 0)} l`,
          ),
        ]
      : []),
    ...fuelledSteps(fuelType, estimate),
    sum,
  ]
}
