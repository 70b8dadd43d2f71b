import { tripSchemaExtensions as trips } from '../calculator/validate-calculation.js'
import {
  createValidators,
  crossFieldKeyword,
  type FieldError,
  type SchemaExtensions,
} from '../core/validation/field-errors.js'
import { isDate, isDateTime, isObject } from '../core/validation/formats.js'
import {
  hasBeenPaid,
  ORDER_STATUSES,
  STATUSES_AFTER_FULFILMENT,
  toLiveStatus,
} from './order-status.js'
import { isImportedId, isOrderNumber } from './order.js'
import { findShareErrors } from './share.js'

/** An https URL as it can be shown and linked, without user name and password. */
function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/[^\s\p{C}]+$/u.test(text)) return false
  const url = URL.parse(text)
  return url !== null && url.username === '' && url.password === ''
}

/** A day starts up to 14 hours earlier than in UTC. */
const MAX_DAY_AHEAD_MS = 14 * 60 * 60 * 1000
/** Allows for clocks that differ. */
const MAX_TIME_AHEAD_MS = 5 * 60 * 1000

/** A date, or a date and time with an offset, that is not in the future. */
const isPastDate = (text: string): boolean =>
  isDate(text)
    ? Date.parse(text) <= Date.now() + MAX_DAY_AHEAD_MS
    : isDateTime(text) && Date.parse(text) <= Date.now() + MAX_TIME_AHEAD_MS

/** Allows for clocks and time zones that differ. A later time is probably a typing error. */
const MAX_ORDER_TIME_AHEAD_MS = 24 * 60 * 60 * 1000

/**
 * ms since 1970; NaN for anything that is not a date-time, so that every comparison is false.
 */
const toTime = (value: unknown): number =>
  typeof value === 'string' && isDateTime(value) ? Date.parse(value) : NaN

const isFuture = (value: unknown, now: number): boolean =>
  toTime(value) > now + MAX_ORDER_TIME_AHEAD_MS
const NOT_FUTURE = 'must not be in the future'

type NewOrderFields = Partial<Record<'placedAt' | 'calculatorType' | 'calculatorData', unknown>>

/**
 * Checks the rules for new orders that the schema cannot express. Ignores values that the schema
 * rejects.
 */
export function validateNewOrder(order: NewOrderFields): FieldError[] {
  const errors: FieldError[] = []
  if (isFuture(order.placedAt, Date.now())) errors.push({ path: 'placedAt', message: NOT_FUTURE })
  if (order.calculatorData != null && order.calculatorType == null) {
    errors.push({ path: 'calculatorType', message: 'is required if calculatorData is given' })
  }
  return errors
}

/** Requires `co2eKg` if an order has no trip to calculate it from. */
const requireMassOrTrip = ({
  co2eKg,
  calculatorType,
  calculatorData,
}: Partial<Record<'co2eKg' | 'calculatorType' | 'calculatorData', unknown>>): FieldError[] =>
  co2eKg === undefined && (calculatorType == null || calculatorData == null)
    ? [{ path: 'co2eKg', message: 'is required' }]
    : []

const TIMESTAMPS = ['createdAt', 'updatedAt', 'fulfilledAt', 'cancelledAt', 'paidAt'] as const

type TimestampFields = Partial<
  Record<'status' | 'cancelledFrom' | (typeof TIMESTAMPS)[number], unknown>
>

/**
 * Checks the timestamps of an imported order, and its status before a cancellation. Ignores values
 * that the schema rejects.
 */
export function findTimestampErrors(order: TimestampFields, now: number): FieldError[] {
  const errors: FieldError[] = TIMESTAMPS.filter((field) => isFuture(order[field], now)).map(
    (path) => ({ path, message: NOT_FUTURE }),
  )
  const { createdAt, updatedAt, fulfilledAt, cancelledAt } = order
  if (toTime(updatedAt) < toTime(createdAt)) {
    errors.push({ path: 'updatedAt', message: 'must not be before createdAt' })
  }
  const status = ORDER_STATUSES.find((name) => name === (order.status ?? 'pending'))
  if (status === undefined) return errors
  const message = `must be empty if status is ${status}`
  if (fulfilledAt != null && !STATUSES_AFTER_FULFILMENT.includes(status)) {
    errors.push({ path: 'fulfilledAt', message })
  }
  if (cancelledAt != null && status !== 'cancelled') errors.push({ path: 'cancelledAt', message })
  if (order.cancelledFrom != null && status !== 'cancelled') {
    errors.push({ path: 'cancelledFrom', message })
  }
  if (order.paidAt == null) return errors
  const paidStatus = status === 'cancelled' ? (toLiveStatus(order.cancelledFrom) ?? null) : status
  if (paidStatus !== null && !hasBeenPaid(paidStatus)) {
    const field = status === 'cancelled' ? 'cancelledFrom' : 'status'
    errors.push({ path: 'paidAt', message: `must be empty if ${field} is ${paidStatus}` })
  }
  return errors
}

/** Formats and keywords for the order schemas, including those for trips and vessels. */
const extensions: SchemaExtensions = {
  formats: {
    ...trips.formats,
    'imported-order-id': isImportedId,
    'order-number': isOrderNumber,
    'https-url': isHttpsUrl,
    'past-date': isPastDate,
  },
  keywords: [
    ...trips.keywords,
    crossFieldKeyword('x-new-order', validateNewOrder),
    crossFieldKeyword('x-co2e-or-trip', requireMassOrTrip),
    crossFieldKeyword('x-share', ({ calculatorData, ...share }) =>
      findShareErrors(share, isObject(calculatorData) ? calculatorData.guests : undefined),
    ),
  ],
}

export const validators = createValidators(extensions)
export const { checker } = validators
