import { CALCULATOR_TYPES } from '../../calculator/calculator-data.js'
import { FUEL_TYPES, getFuelName, type FuelType } from '../../calculator/factors/editions.js'
import { FIELD_NAMES } from '../../calculator/form-view.js'
import { UNIT_NAMES } from '../../calculator/units.js'
import { validateCalculation } from '../../calculator/validate-calculation.js'
import { withUnit } from '../../formatting/number-formatter.js'
import type { Order } from '../../orders/order.js'
import type { Formatters } from '../formatters.js'
import { CALCULATOR_LABELS } from '../labels.js'
import { estimateTrip, type TripEstimate } from './trip-estimate.js'

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
}

const getOwn = <T>(record: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

const getNameOfFuel = (id: string): string =>
  FUEL_TYPES.includes(id as FuelType) ? getFuelName(id as FuelType) : id

function formatValue(name: string, value: unknown, format: Formatters): string {
  if (typeof value === 'number') return format.exact(value)
  if (typeof value !== 'string') return JSON.stringify(value)
  return name === 'fuelType' ? getNameOfFuel(value) : value
}

/** The label of a field's unit; `null` if it has none. Stored data may hold any unit. */
function getUnitLabel(name: string, data: Record<string, unknown>): string | null {
  const unitField = getOwn(UNIT_FIELDS, name)
  if (unitField === undefined) return getOwn(FIXED_UNITS, name) ?? null
  const unit = data[unitField]
  if (unit === undefined) return null
  return typeof unit === 'string' ? (getOwn(UNIT_NAMES, unit) ?? unit) : JSON.stringify(unit)
}

function buildRows(data: Record<string, unknown>, format: Formatters) {
  const unitFields = new Set(Object.keys(data).flatMap((name) => getOwn(UNIT_FIELDS, name) ?? []))
  return Object.entries(data)
    .filter(([name]) => !unitFields.has(name))
    .map(([name, value]) => {
      const text = formatValue(name, value, format)
      const unit = getUnitLabel(name, data)
      return {
        label: getOwn(FIELD_NAMES, name) ?? name,
        value: unit === null ? text : withUnit(text, unit),
      }
    })
}

/** Whether a stored mass is a calculated one, possibly rounded. */
function isSameMass(stored: number, calculated: number): boolean {
  const decimals = String(stored).split('.')[1]?.length ?? 0
  return Math.abs(stored - calculated) < 1e-9 || Number(calculated.toFixed(decimals)) === stored
}

const MAX_PERCENT = 1000

/** Compares an order's CO2e with its trip; `null` if they are the same. */
function describeDifference(order: Order, calculated: number, format: Formatters): string | null {
  if (isSameMass(order.co2eKg, calculated)) return null
  const difference = Math.abs(order.co2eKg - calculated)
  const percent = calculated === 0 ? 0 : Math.round((difference / calculated) * 100)
  const share = percent === 0 || percent > MAX_PERCENT ? '' : ` (${format.percent(percent / 100)})`
  const direction = order.co2eKg > calculated ? 'more' : 'less'
  const by = format.exact(Number(difference.toPrecision(3)))
  return `The order has ${format.exactKilograms(order.co2eKg)} kg CO₂e, ${by} kg${share} ${direction} than its trip.`
}

/** An order's trip, recalculated with the current factors. */
export interface TripView {
  type: string
  rows: { label: string; value: string }[]
  estimate: TripEstimate | null
  difference: string | null
  /** Why there is no estimate */
  errors: string[]
}

/** Builds the trip section; `null` if the order has no calculator. */
export function buildTripView(order: Order, format: Formatters): TripView | null {
  const { calculatorType, calculatorData } = order
  if (calculatorType === null || !CALCULATOR_TYPES.includes(calculatorType)) return null
  const type = CALCULATOR_LABELS[calculatorType]
  if (calculatorData === null) {
    return { type, rows: [], estimate: null, difference: null, errors: [] }
  }
  const rows = buildRows(calculatorData, format)
  const checked = validateCalculation(calculatorType, calculatorData)
  if (!checked.ok) {
    const errors = checked.errors.map(
      ({ path, message }) => `${getOwn(FIELD_NAMES, path) ?? path} ${message}`,
    )
    return { type, rows, estimate: null, difference: null, errors }
  }
  const estimate = estimateTrip(checked.value, format)
  const difference = describeDifference(order, estimate.co2eKg, format)
  return { type, rows, estimate, difference, errors: [] }
}
