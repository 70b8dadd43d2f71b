import type { Order } from './order.js'

/** The columns about the recorded calculation of an order, after all others; gases in kg. */
export const CALCULATION_COLUMNS = [
  'framework',
  'co2Kg',
  'ch4Kg',
  'n2oKg',
  'biogenicCo2Kg',
] as const

type CalculationValues = Record<(typeof CALCULATION_COLUMNS)[number], string | number | null>

/** Orders without a calculation, and calculations of earlier versions, have no values. */
export const getCalculationValues = (calculation: Order['calculation']): CalculationValues => ({
  framework: calculation?.framework ?? null,
  co2Kg: calculation?.gases?.co2Kg ?? null,
  ch4Kg: calculation?.gases?.ch4Kg ?? null,
  n2oKg: calculation?.gases?.n2oKg ?? null,
  biogenicCo2Kg: calculation?.gases?.biogenicCo2Kg ?? null,
})
