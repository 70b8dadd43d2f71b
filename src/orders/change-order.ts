import { isDeepStrictEqual } from 'node:util'
import { parseImoNumber } from '../calculator/vessel.js'
import {
  getStatusFields,
  getTransitions,
  hasBeenPaid,
  type OrderStatus,
  type StatusRecord,
} from './order-status.js'
import { calculateTrip, getMassToOffset, isSameMass, roundToGram } from './order-trip.js'
import type { FieldChange, NewOrder, Order, OrderChanges } from './order.js'

export type ChangeOutcome =
  | { outcome: 'changed'; order: Order; changes: FieldChange[] }
  | { outcome: 'unchanged'; order: Order }
  | { outcome: 'invalid_transition'; order: Order; transitions: readonly OrderStatus[] }

const TIMESTAMPS = ['paidAt', 'fulfilledAt', 'cancelledAt'] as const
type Timestamps = Pick<StatusRecord, (typeof TIMESTAMPS)[number]>

const normalizeImoNumber = (imoNumber: string | null | undefined): string | null =>
  imoNumber == null ? null : parseImoNumber(imoNumber)

/**
 * Replaces -0 with 0. JSON.stringify writes -0 as 0, so the order would otherwise differ from its
 * stored copy.
 */
const withoutNegativeZero = <T extends Partial<Pick<Order, 'co2eKg' | 'amountMinor'>>>(
  values: T,
): T => ({
  ...values,
  ...(values.co2eKg === 0 ? { co2eKg: 0 } : {}),
  ...(values.amountMinor === 0 ? { amountMinor: 0 } : {}),
})

/** Creates the first version of an order, without the fields that the store assigns. */
export function createFirstVersion(
  newOrder: Omit<NewOrder, 'status'> & { status?: OrderStatus },
  now: string,
): Omit<Order, 'id' | 'orderNumber'> {
  const status = newOrder.status ?? 'pending'
  const { co2eKg, amountMinor } = withoutNegativeZero(newOrder)
  return {
    status,
    customerName: newOrder.customerName,
    customerEmail: newOrder.customerEmail,
    vesselName: newOrder.vesselName ?? null,
    imoNumber: normalizeImoNumber(newOrder.imoNumber),
    calculatorType: newOrder.calculatorType ?? null,
    calculatorData: newOrder.calculatorData ?? null,
    co2eKg,
    amountMinor,
    currency: newOrder.currency,
    orderSourceId: newOrder.orderSourceId ?? null,
    notes: newOrder.notes ?? '',
    placedAt: new Date(newOrder.placedAt ?? now).toISOString(),
    createdAt: now,
    updatedAt: now,
    fulfilledAt: status === 'fulfilled' ? now : null,
    cancelledAt: null,
    version: 1,
    calculation: calculateTrip(newOrder),
    origin: newOrder.origin ?? null,
    checkout: newOrder.checkout ?? null,
    cancelledFrom: null,
    paidAt: hasBeenPaid(status) ? now : null,
    retirement: null,
  }
}

interface NextVersionOptions {
  getFields?: typeof getStatusFields
  /** Further changes to record in the history */
  extraChanges?: FieldChange[]
}

/** Creates the next version of an order with new values in some fields. Pure. */
export function createNextVersion(
  order: Order,
  values: Partial<Order>,
  now: string,
  { getFields = getStatusFields, extraChanges = [] }: NextVersionOptions = {},
): ChangeOutcome {
  const fieldChanges = (Object.keys(values) as (keyof Order)[])
    .filter((field) => !isDeepStrictEqual(order[field], values[field]))
    .map((field): FieldChange => ({ field, from: order[field], to: values[field] }))
  const changes = [...fieldChanges, ...extraChanges]
  if (changes.length === 0) return { outcome: 'unchanged', order }
  // The clock may have been set back, or may have been ahead in the process that created the order.
  const updatedAt = now < order.createdAt ? order.createdAt : now
  const { status = order.status } = values
  const fields = status === order.status ? {} : getFields(order, status, updatedAt)
  return {
    outcome: 'changed',
    order: { ...order, ...values, ...fields, updatedAt, version: order.version + 1 },
    changes: [...changes, ...getClearedTimestamps(order, fields)],
  }
}

/** The timestamps that a status change clears, as changes to record in the history. */
export const getClearedTimestamps = (
  order: Timestamps,
  timestamps: Partial<Timestamps>,
): FieldChange[] =>
  TIMESTAMPS.filter((field) => order[field] !== null && timestamps[field] === null).map(
    (field) => ({ field, from: order[field], to: null }),
  )

/** Applies an edit. Pure. */
export function applyChanges(
  order: Order,
  { imoNumber, ...changes }: OrderChanges,
  now: string,
): ChangeOutcome {
  const values: Partial<Order> = {
    ...withoutNegativeZero(changes),
    ...(imoNumber === undefined ? {} : { imoNumber: normalizeImoNumber(imoNumber) }),
  }
  const { status } = changes
  const transitions = getTransitions(order)
  if (status !== undefined && status !== order.status && !transitions.includes(status)) {
    return { outcome: 'invalid_transition', order, transitions }
  }
  return createNextVersion(order, values, now)
}

/**
 * Recalculates the mass of credits with the newest factor edition. An order without a valid trip is
 * unchanged. Pure.
 */
export function recalculateOrder(order: Order, now: string): ChangeOutcome {
  const calculation = calculateTrip(order)
  if (calculation === null) return { outcome: 'unchanged', order }
  const toOffset = getMassToOffset(order, calculation.co2eKg)
  const co2eKg = isSameMass(order.co2eKg, toOffset) ? order.co2eKg : roundToGram(toOffset)
  return createNextVersion(order, { calculation, co2eKg }, now)
}

/** Cancels an order; a cancelled order is unchanged. Pure. */
export const cancelOrder = (order: Order, now: string): ChangeOutcome =>
  createNextVersion(order, { status: 'cancelled' }, now)
