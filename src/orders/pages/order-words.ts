import type { CalculatorType } from '../../calculator/calculator-data.js'
import type { OrderStatus } from '../order-status.js'

/** What people read for a status. */
export const STATUS_NAMES: Record<OrderStatus, string> = {
  pending: 'Pending',
  paid: 'Paid',
  processing: 'Processing',
  fulfilled: 'Fulfilled',
  refunded: 'Refunded',
  cancelled: 'Cancelled',
}

/** What people read for a calculator. */
export const TYPE_NAMES: Record<CalculatorType, string> = {
  fuel: 'Fuel',
  distance: 'Distance',
  custom: 'Custom',
}
