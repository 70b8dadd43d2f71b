import type { CalculatorType } from '../../calculator/calculator-data.js'
import { ORDER_STATUSES, type OrderStatus } from '../order-status.js'
import type { LiveStatus } from '../order.js'

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

/** Whether a text is a status that an order may be given. */
export const isLiveStatus = (text: unknown): text is LiveStatus =>
  text !== 'cancelled' && ORDER_STATUSES.some((status) => status === text)
