import { isDeepStrictEqual } from 'node:util'
import { parseImoNumber } from '../calculator/imo-number.js'
import type { FieldError } from '../validation/field-errors.js'
import { isDateTime } from '../validation/formats.js'
import type { FieldChange, NewOrder, Order, OrderChanges } from './order.js'
import { getTransitions, ORDER_STATUSES, type OrderStatus } from './order-status.js'

/** What a change of an order comes to. */
export type ChangeOutcome =
  | { outcome: 'changed'; order: Order; changes: FieldChange[] }
  | { outcome: 'unchanged'; order: Order }
  | { outcome: 'invalid_transition'; order: Order; transitions: readonly OrderStatus[] }

const sevenDigits = (imoNumber: string | null | undefined): string | null =>
  imoNumber == null ? null : parseImoNumber(imoNumber)

/** The moment as records have it. */
const isoTime = (moment: string): string => new Date(moment).toISOString()

/** Minus nothing is nothing: it is written `0` wherever an order is told. */
const withoutMinusZero = <T extends Partial<Pick<Order, 'co2eKg' | 'amountMinor'>>>(
  given: T,
): T => ({
  ...given,
  ...(given.co2eKg === 0 ? { co2eKg: 0 } : {}),
  ...(given.amountMinor === 0 ? { amountMinor: 0 } : {}),
})

/** Clocks and time zones differ; what is placed later than this after now is a slip. */
const AHEAD_MS = 24 * 60 * 60 * 1000

/** When a moment is, ms since the epoch; NaN, which compares with nothing, where it is none. */
const timeOf = (moment: unknown): number =>
  typeof moment === 'string' && isDateTime(moment) ? Date.parse(moment) : NaN

const isFuture = (moment: unknown, now: number): boolean => timeOf(moment) > now + AHEAD_MS
const NOT_FUTURE = 'must not be in the future'

/** Fields that have rules beyond their schema; values that it refuses are passed over. */
type FurtherRuled = Partial<Record<'placedAt' | 'calculatorType' | 'calculatorData', unknown>>

/** What is wrong with an order whose fields are each fine but do not go together. */
export function validateNewOrder(given: FurtherRuled, now: number): FieldError[] {
  const faults: FieldError[] = []
  if (isFuture(given.placedAt, now)) faults.push({ path: 'placedAt', message: NOT_FUTURE })
  if (given.calculatorData != null && given.calculatorType == null) {
    faults.push({ path: 'calculatorType', message: 'must be given too where calculatorData is' })
  }
  return faults
}

/** The first version of an order, without what the store gives it. */
export function createFirstVersion(
  given: Omit<NewOrder, 'status'> & { status?: OrderStatus },
  now: string,
): Omit<Order, 'id' | 'orderNumber'> {
  const status = given.status ?? 'pending'
  const { co2eKg, amountMinor } = withoutMinusZero(given)
  return {
    status,
    customerName: given.customerName,
    customerEmail: given.customerEmail,
    vesselName: given.vesselName ?? null,
    imoNumber: sevenDigits(given.imoNumber),
    calculatorType: given.calculatorType ?? null,
    calculatorData: given.calculatorData ?? null,
    co2eKg,
    amountMinor,
    currency: given.currency,
    orderSourceId: given.orderSourceId ?? null,
    notes: given.notes ?? '',
    placedAt: isoTime(given.placedAt ?? now),
    createdAt: now,
    updatedAt: now,
    fulfilledAt: status === 'fulfilled' ? now : null,
    cancelledAt: null,
    version: 1,
  }
}

/** The moments that go with a status: when it was reached, and none that a new beginning undoes. */
export function getStatusTimestamps(
  order: Pick<Order, 'fulfilledAt'>,
  status: OrderStatus,
  now: string,
) {
  const fulfilledAt = status === 'fulfilled' ? now : status === 'pending' ? null : order.fulfilledAt
  return { fulfilledAt, cancelledAt: status === 'cancelled' ? now : null }
}

/** Statuses that an order may have once it has been fulfilled: whatever else follows begins anew. */
const SINCE_FULFILLED: readonly OrderStatus[] = ['fulfilled', 'refunded', 'cancelled']

const RECORD_MOMENTS = ['createdAt', 'updatedAt', 'fulfilledAt', 'cancelledAt'] as const

/** A record's status and moments; values that its schema refuses are passed over. */
type Moments = Partial<Record<'status' | (typeof RECORD_MOMENTS)[number], unknown>>

/** What is wrong with a record whose moments have not come yet, or no moves lead to. */
export function findTimestampErrors(given: Moments, now: number): FieldError[] {
  const faults: FieldError[] = RECORD_MOMENTS.filter((field) => isFuture(given[field], now)).map(
    (path) => ({ path, message: NOT_FUTURE }),
  )
  const { createdAt, updatedAt, fulfilledAt, cancelledAt } = given
  if (timeOf(updatedAt) < timeOf(createdAt)) {
    faults.push({ path: 'updatedAt', message: 'must not be before createdAt' })
  }
  const status = ORDER_STATUSES.find((known) => known === (given.status ?? 'pending'))
  if (status === undefined) return faults
  const message = `must be empty where status is ${status}`
  if (fulfilledAt != null && !SINCE_FULFILLED.includes(status)) {
    faults.push({ path: 'fulfilledAt', message })
  }
  if (cancelledAt != null && status !== 'cancelled') faults.push({ path: 'cancelledAt', message })
  return faults
}

interface NextVersion {
  /** The moments that go with a status */
  momentsOf?: typeof getStatusTimestamps
  /** Changes that are kept with it but are none of its fields */
  beside?: FieldChange[]
}

/** An order with other values in some fields, and what that changes. Pure. */
export function createNextVersion(
  order: Order,
  wanted: Partial<Order>,
  now: string,
  { momentsOf = getStatusTimestamps, beside = [] }: NextVersion = {},
): ChangeOutcome {
  const fields = (Object.keys(wanted) as (keyof Order)[])
    .filter((field) => !isDeepStrictEqual(order[field], wanted[field]))
    .map((field): FieldChange => ({ field, from: order[field], to: wanted[field] }))
  const changes = [...fields, ...beside]
  if (changes.length === 0) return { outcome: 'unchanged', order }
  // A clock may have been set back since, or was ahead in the process that entered the order.
  const updatedAt = now < order.createdAt ? order.createdAt : now
  const { status = order.status } = wanted
  const moments = status === order.status ? {} : momentsOf(order, status, updatedAt)
  return {
    outcome: 'changed',
    order: { ...order, ...wanted, ...moments, updatedAt, version: order.version + 1 },
    changes: [...changes, ...removeUndefined(order, moments)],
  }
}

/** Moments that go with the status which they belonged to: only the history has them from then on. */
export const removeUndefined = (
  order: Pick<Order, 'fulfilledAt' | 'cancelledAt'>,
  moments: Partial<Pick<Order, 'fulfilledAt' | 'cancelledAt'>>,
): FieldChange[] =>
  (['fulfilledAt', 'cancelledAt'] as const)
    .filter((field) => order[field] !== null && moments[field] === null)
    .map((field) => ({ field, from: order[field], to: null }))

/** An order with an administrator's changes, or why it cannot have them. Pure. */
export function applyChanges(
  order: Order,
  { imoNumber, ...rest }: OrderChanges,
  now: string,
): ChangeOutcome {
  const wanted: Partial<Order> = {
    ...withoutMinusZero(rest),
    ...(imoNumber === undefined ? {} : { imoNumber: sevenDigits(imoNumber) }),
  }
  const { status } = wanted
  const transitions = getTransitions(order.status)
  if (status !== undefined && status !== order.status && !transitions.includes(status)) {
    return { outcome: 'invalid_transition', order, transitions }
  }
  return createNextVersion(order, wanted, now)
}

/** An order called off. Again changes nothing. */
export const cancelOrder = (order: Order, now: string): ChangeOutcome =>
  createNextVersion(order, { status: 'cancelled' }, now)

/** The status that an order had before the latest change of it, if that was a move which can be undone. */
export function getPreviousStatus(
  order: Order,
  [latest]: readonly { changes: readonly FieldChange[] }[],
): OrderStatus | undefined {
  const move = latest?.changes.find(({ field, to }) => field === 'status' && to === order.status)
  return ORDER_STATUSES.find((status) => status === move?.from && status !== 'cancelled')
}

/**
 * An order one step back: a cancelled one as it was before, or pending where nobody knows how it
 * was; any other with the status that it had before its latest change. Where that was no move,
 * nothing changes.
 *
 * @param history what became of it, newest first
 */
export function undoLastChange(
  order: Order,
  history: readonly { changes: readonly FieldChange[] }[],
  now: string,
): ChangeOutcome {
  if (order.status !== 'cancelled') {
    const before = getPreviousStatus(order, history)
    if (before === undefined) return { outcome: 'unchanged', order }
    return createNextVersion(order, { status: before }, now, {
      momentsOf: ({ fulfilledAt }, status) => ({
        fulfilledAt: SINCE_FULFILLED.includes(status) ? fulfilledAt : null,
        cancelledAt: null,
      }),
    })
  }
  const cancelling = history
    .flatMap(({ changes }) => changes)
    .find(({ field, to }) => field === 'status' && to === 'cancelled')
  const before = ORDER_STATUSES.find((status) => status === cancelling?.from)
  return before === undefined
    ? createNextVersion(order, { status: 'pending' }, now)
    : createNextVersion(order, { status: before }, now, {
        momentsOf: ({ fulfilledAt }) => ({ fulfilledAt, cancelledAt: null }),
      })
}
