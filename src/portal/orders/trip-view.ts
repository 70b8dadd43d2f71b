import { CALCULATOR_TYPES } from '../../calculator/calculator-data.js'
import { FIELD_NAMES } from '../../calculator/form-view.js'
import { validateCalculation } from '../../calculator/validate-calculation.js'
import { FUELS } from '../../calculator/emission-factors.js'
import { UNIT_NAMES } from '../../calculator/units.js'
import type { Formatters } from '../formatters.js'
import { CALCULATOR_LABELS } from '../labels.js'
import type { Order } from '../../orders/order.js'
import { estimateTrip, type TripEstimate } from './trip-estimate.js'

/** Which field says in what unit another one is, or the unit that it always has. */
const UNIT_FIELDS: Record<string, string> = {
  quantity: 'unit',
  amount: 'unit',
  distance: 'distanceUnit',
  consumption: 'consumptionUnit',
}
const UNITS: Record<string, string> = {
  speedKn: 'knots',
  referenceSpeedKn: 'knots',
  generatorLitresPerHour: 'litres/hour',
  generatorHours: 'hours',
}

const own = <T>(names: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(names, key) ? names[key] : undefined

const named = (names: Record<string, unknown>, key: unknown): unknown =>
  typeof key === 'string' ? (own(names, key) ?? key) : key

const fuelName = (id: unknown): unknown =>
  typeof id === 'string' && Object.hasOwn(FUELS, id) ? FUELS[id as keyof typeof FUELS].name : id

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function rowsOf(data: Record<string, unknown>, figures: Formatters) {
  const units = new Set(Object.keys(data).flatMap((name) => own(UNIT_FIELDS, name) ?? []))
  return Object.entries(data)
    .filter(([name]) => !units.has(name))
    .map(([name, value]) => {
      const shown =
        name === 'fuelType'
          ? fuelName(value)
          : typeof value === 'number'
            ? figures.exact(value)
            : value
      const unitField = own(UNIT_FIELDS, name)
      const unit = unitField === undefined ? own(UNITS, name) : named(UNIT_NAMES, data[unitField])
      return {
        label: own(FIELD_NAMES, name) ?? name,
        value: text(shown) + (unit === undefined ? '' : `\u00a0${text(unit)}`),
      }
    })
}

/** Stored amounts are often rounded; what agrees in its own decimals is the same. */
function isSame(stored: number, computed: number): boolean {
  const decimals = String(stored).split('.')[1]?.length ?? 0
  return Math.abs(stored - computed) < 1e-9 || Number(computed.toFixed(decimals)) === stored
}

/** How an order's CO2e compares with what its trip comes to; `null` where they agree. */
function difference(order: Order, computed: number, figures: Formatters): string | null {
  if (isSame(order.co2eKg, computed)) return null
  const apart = Math.abs(order.co2eKg - computed)
  const percent = computed === 0 ? 0 : Math.round((apart / computed) * 100)
  const share = percent === 0 || percent > 1000 ? '' : ` (${figures.percent(percent / 100)})`
  const way = order.co2eKg > computed ? 'more' : 'less'
  const by = figures.exact(Number(apart.toPrecision(3)))
  return `The order has ${figures.exactKilograms(order.co2eKg)} kg CO₂e, which is ${by} kg${share} ${way} than this sum.`
}

/** The trip that an order is for, computed anew. */
export interface TripView {
  type: string
  rows: { label: string; value: string }[]
  sum: TripEstimate | null
  difference: string | null
  /** Why there is no sum though there are data */
  faults: string[]
}

/** The trip as its page shows it; `null` where the order says nothing of one. */
export function buildTripView(order: Order, figures: Formatters): TripView | null {
  const { calculatorType, calculatorData } = order
  if (calculatorType === null || !CALCULATOR_TYPES.includes(calculatorType)) return null
  const type = CALCULATOR_LABELS[calculatorType]
  if (calculatorData === null) {
    return { type, rows: [], sum: null, difference: null, faults: [] }
  }
  const rows = rowsOf(calculatorData, figures)
  const checked = validateCalculation(calculatorType, calculatorData)
  if (!checked.ok) {
    const faults = checked.errors.map(
      ({ path, message }) => `${own(FIELD_NAMES, path) ?? path} ${message}`,
    )
    return { type, rows, sum: null, difference: null, faults }
  }
  const sum = estimateTrip(checked.value, figures)
  return { type, rows, sum, difference: difference(order, sum.co2eKg, figures), faults: [] }
}
