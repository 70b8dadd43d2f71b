import type { Order } from './order.js'

/** The columns about the payment of an order, after the columns of the order. */
export const PAYMENT_COLUMNS = [
  'paymentMethod',
  'paymentStatus',
  'paymentAmountMinor',
  'paymentCurrency',
  'paymentRefundedMinor',
  'paymentDispute',
  'paymentProblem',
  'paymentSessionId',
  'paymentIntentId',
] as const

/** The columns about the recorded calculation of an order, after all others; gases in kg. */
export const CALCULATION_COLUMNS = [
  'framework',
  'co2Kg',
  'ch4Kg',
  'n2oKg',
  'biogenicCo2Kg',
] as const

/** Orders without a calculation, and calculations of earlier versions, have no values. */
export const getCalculationValues = (calculation: Order['calculation']) => ({
  framework: calculation?.framework ?? null,
  co2Kg: calculation?.gases?.co2Kg ?? null,
  ch4Kg: calculation?.gases?.ch4Kg ?? null,
  n2oKg: calculation?.gases?.n2oKg ?? null,
  biogenicCo2Kg: calculation?.gases?.biogenicCo2Kg ?? null,
})
