import {
  buildBreakdown,
  buildFactorViews,
  buildFrameworkView,
  withSubscripts,
} from '../../calculator/breakdown-view.js'
import { buildCalculationSteps } from '../../calculator/calculation-steps.js'
import { CALCULATOR_TYPES, type Calculation } from '../../calculator/calculator-data.js'
import { USE_NAMES } from '../../calculator/describe-trip.js'
import type { Estimate } from '../../calculator/estimate-schema.js'
import { calculateEstimate } from '../../calculator/estimate.js'
import {
  findEdition,
  FUEL_TYPES,
  getFuelName,
  LATEST_EDITION,
  type FuelType,
} from '../../calculator/factors/editions.js'
import { CHOICES, FIELD_NAMES } from '../../calculator/form-view.js'
import { UNKNOWN_GASES } from '../../calculator/fuel-emissions.js'
import type { RecordedCalculation } from '../../calculator/recorded-calculation.js'
import { UNIT_NAMES } from '../../calculator/units.js'
import { validateCalculation } from '../../calculator/validate-calculation.js'
import { withUnit } from '../../core/formatting/number-formatter.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import { getOwn, isObject } from '../../core/validation/formats.js'
import { CALCULATOR_LABELS } from '../labels.js'
import { describeShare, getMassToOffset, isSameMass, roundToGram } from '../order-trip.js'
import type { Order } from '../order.js'

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

/** Fields whose unit is in another field */
const UNIT_FIELDS: Record<string, string> = {
  quantity: 'unit',
  amount: 'unit',
  distance: 'distanceUnit',
  consumption: 'consumptionUnit',
}
/** Fields with a fixed unit */
const FIXED_UNITS: Record<string, string> = {
  speedKn: 'knots',
  referenceSpeedKn: 'knots',
  generatorLitresPerHour: 'litres/hour',
  generatorHours: 'hours',
  hvoPercent: '% by volume',
  certifiedGCo2ePerMj: 'g CO₂e/MJ',
  kgCo2ePerKwh: 'kg CO₂e/kWh',
}

const getNameOfFuel = (id: string): string =>
  FUEL_TYPES.includes(id as FuelType) ? getFuelName(id as FuelType) : id

function formatValue(name: string, value: unknown, format: Formatters): string {
  if (typeof value === 'number') return format.exact(value)
  if (typeof value !== 'string') return JSON.stringify(value)
  if (name === 'fuelType') return getNameOfFuel(value)
  return getOwn(CHOICES, name)?.find((choice) => choice.value === value)?.label ?? value
}

/** The label of a field's unit; `null` if it has none. Stored data may contain any unit. */
function getUnitLabel(name: string, data: Record<string, unknown>): string | null {
  const unitField = getOwn(UNIT_FIELDS, name)
  if (unitField === undefined) return getOwn(FIXED_UNITS, name) ?? null
  const unit = data[unitField]
  if (unit === undefined) return null
  return typeof unit === 'string' ? (getOwn(UNIT_NAMES, unit) ?? unit) : JSON.stringify(unit)
}

/** Rows such as `Tender: 40 litres, Petrol (mineral)`. Stored data may be invalid. */
const buildLineRows = (lines: unknown[], format: Formatters) =>
  lines.filter(isObject).map((line) => {
    const quantity = withUnit(
      formatValue('quantity', line.quantity, format),
      getUnitLabel('quantity', line) ?? '',
    )
    const blend = typeof line.hvoPercent === 'number' ? `${format.exact(line.hvoPercent)}% HVO` : ''
    const use = typeof line.use === 'string' ? getOwn(USE_NAMES, line.use) : undefined
    const details = [quantity, formatValue('fuelType', line.fuelType, format), blend]
    return { label: use ?? 'Another fuel', value: details.filter(Boolean).join(', ') }
  })

function buildRows(data: Record<string, unknown>, format: Formatters) {
  const unitFields = new Set(Object.keys(data).flatMap((name) => getOwn(UNIT_FIELDS, name) ?? []))
  return Object.entries(data)
    .filter(([name]) => !unitFields.has(name))
    .flatMap(([name, value]) => {
      if (name === 'furtherLines' && Array.isArray(value)) return buildLineRows(value, format)
      const text = formatValue(name, value, format)
      const unit = getUnitLabel(name, data)
      return {
        label: getOwn(FIELD_NAMES, name) ?? name,
        value: unit === null ? text : withUnit(text, unit),
      }
    })
}

const MAX_PERCENT = 1000

/** Describes how an order's CO2e differs from its trip's CO2e; `null` if it does not. */
function describeDifference(order: Order, calculated: number, format: Formatters): string | null {
  if (isSameMass(order.co2eKg, getMassToOffset(order, calculated))) {
    if (order.checkout === null || order.checkout.sharePercent === 100) return null
    const share = describeShare(order.checkout, order.calculatorData?.guests, format.numbers)
    return `The order is for ${share}.`
  }
  const difference = Math.abs(order.co2eKg - calculated)
  const percent = calculated === 0 ? 0 : Math.round((difference / calculated) * 100)
  const change = percent === 0 || percent > MAX_PERCENT ? '' : ` (${format.percent(percent / 100)})`
  const direction = order.co2eKg > calculated ? 'more' : 'less'
  const by = format.exact(Number(difference.toPrecision(3)))
  return `The order is for ${format.exactKilograms(order.co2eKg)} kg CO₂e, ${by} kg${change} ${direction} than its trip.`
}

/**
 * Describes the edition of an order's calculation, how the result of the newest edition differs
 * (`null` if the order's edition is unknown, or is the newest), and what a recalculation would change
 * (`null` if nothing).
 */
function buildEditionView(order: Order, calculation: Calculation, format: Formatters) {
  const recorded = order.calculation
  const { id } = LATEST_EDITION
  const newest = calculateEstimate(calculation).co2eKg
  const formatMass = (kilograms: number): string =>
    `${format.exactKilograms(roundToGram(kilograms))} kg CO₂e`
  const toOffset = getMassToOffset(order, newest)
  const changesCo2e = !isSameMass(order.co2eKg, toOffset)
  const recalculation =
    recorded?.edition === id && !changesCo2e
      ? null
      : {
          label: `Recalculate with edition ${id}`,
          effect: changesCo2e
            ? `Changes the CO₂e of the order to ${formatMass(toOffset)}. The amount does not change.`
            : 'Records the edition. CO₂e and amount do not change.',
        }
  if (recorded === null) {
    const note = `Edition not recorded. This is the result of edition ${id}.`
    return { note, newer: null, recalculation }
  }
  const note = `Calculated with edition ${recorded.edition}.`
  if (recorded.edition === id) return { note, newer: null, recalculation }
  const difference = newest - recorded.co2eKg
  const share = recorded.co2eKg === 0 ? 0 : Math.abs(difference) / recorded.co2eKg
  const newer =
    share < 1e-6
      ? `Edition ${id} gives the same result.`
      : `Edition ${id} gives ${formatMass(newest)}: ${format.exact(Number(Math.abs(difference).toPrecision(3)))} kg (${format.percent(share)}) ${difference > 0 ? 'more' : 'less'}.`
  return { note, newer, recalculation }
}

/**
 * Builds the trip section; `null` if the order has no calculator. If the trip is invalid, it has
 * errors instead of an estimate.
 */
export function buildTripView(order: Order, format: Formatters) {
  const { calculatorType, calculatorData } = order
  if (calculatorType === null || !CALCULATOR_TYPES.includes(calculatorType)) return null
  const type = CALCULATOR_LABELS[calculatorType]
  const noEstimate = { estimate: null, edition: null, difference: null }
  if (calculatorData === null) return { type, rows: [], ...noEstimate, errors: [] }
  const rows = buildRows(calculatorData, format)
  const checked = validateCalculation(calculatorType, calculatorData)
  if (!checked.ok) {
    const errors = checked.errors.map(
      ({ path, message }) => `${getOwn(FIELD_NAMES, path) ?? path} ${message}`,
    )
    return { type, rows, ...noEstimate, errors }
  }
  const estimate = estimateTrip(checked.value, format, order.calculation)
  const difference = describeDifference(order, estimate.co2eKg, format)
  const edition = buildEditionView(order, checked.value, format)
  return { type, rows, estimate, edition, difference, errors: [] }
}
