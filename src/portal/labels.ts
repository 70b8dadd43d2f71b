import type { CalculatorType } from '../calculator/calculator-data.js'
import type { OrderException } from '../orders/order-filters.js'
import type { OrderOrigin } from '../orders/order.js'
import type { OrderStatus } from '../orders/order-status.js'

export const STATUS_LABELS: Record<OrderStatus, string> = {
  pending: 'Pending',
  paid: 'Paid',
  processing: 'Processing',
  fulfilled: 'Fulfilled',
  refunded: 'Refunded',
  cancelled: 'Cancelled',
}

export const ORIGIN_LABELS: Record<OrderOrigin, string> = {
  guest: 'A guest',
  admin: 'An administrator',
  api: 'The API',
}

export const EXCEPTION_LABELS: Record<OrderException, string> = {
  not_placed: 'Paid, not placed',
  placement_unknown: 'Placement unknown',
  differs: 'Differs at the provider',
}

/** The label of a status inside a sentence. */
export const toInlineLabel = (status: OrderStatus): string => STATUS_LABELS[status].toLowerCase()

export const CALCULATOR_LABELS: Record<CalculatorType, string> = {
  fuel: 'Fuel',
  distance: 'Distance',
  custom: 'Custom',
}

/** Joins texts to `a, b and c`. */
export const joinWithAnd = (texts: readonly string[]): string =>
  new Intl.ListFormat('en-GB').format(texts)

/** Joins texts to `a, b or c`. */
export const joinWithOr = (texts: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(texts)
