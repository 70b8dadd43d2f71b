import type { CalculatorType } from '../calculator/calculator-data.js'
import type { OrderStatus } from '../orders/order-status.js'

/** What people read for a status. */
export const STATUS_LABELS: Record<OrderStatus, string> = {
  pending: 'Pending',
  paid: 'Paid',
  processing: 'Processing',
  fulfilled: 'Fulfilled',
  refunded: 'Refunded',
  cancelled: 'Cancelled',
}

/** What people read for a calculator. */
export const CALCULATOR_LABELS: Record<CalculatorType, string> = {
  fuel: 'Fuel',
  distance: 'Distance',
  custom: 'Custom',
}
