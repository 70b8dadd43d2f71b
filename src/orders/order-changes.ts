import { isDeepStrictEqual } from 'node:util'
import { parseImoNumber } from '../calculator/imo-number.js'
import type { FieldError } from '../validation/field-errors.js'
import type { FieldChange, NewOrder, Order, OrderChanges } from './order.js'
import { movesFrom, type OrderStatus } from './order-status.js'

/** What a change of an order comes to. */
export type Changed =
  | { outcome: 'changed'; order: Order; changes: FieldChange[] }
  | { outcome: 'unchanged'; order: Order }
  | { outcome: 'no such move'; order: Order; moves: readonly OrderStatus[] }

const sevenDigits = (imoNumber: string | null | undefined): string | null =>
  imoNumber == null ? null : parseImoNumber(imoNumber)

/** The moment as records have it. */
const isoTime = (moment: string): string => new Date(moment).toISOString()

/** Clocks and time zones differ; what is placed later than this after now is a slip. */
const AHEAD_MS = 24 * 60 * 60 * 1000

/** Fields that have rules beyond their schema; values that it refuses are passed over. */
type FurtherRuled = Partial<Record<'placedAt' | 'calculatorType' | 'calculatorData', unknown>>

/** What is wrong with an order whose fields are each fine but do not go together. */
export function newOrderFaults(given: FurtherRuled, now: number): FieldError[] {
  const faults: FieldError[] = []
  if (typeof given.placedAt === 'string' && Date.parse(given.placedAt) > now + AHEAD_MS) {
    faults.push({ path: 'placedAt', message: 'must not be in the future' })
  }
  if (given.calculatorData != null && given.calculatorType == null) {
    faults.push({ path: 'calculatorType', message: 'must be given too where calculatorData is' })
  }
  return faults
}

/** The first version of an order, without what the store gives it. */
export function firstVersion(
  given: Omit<NewOrder, 'status'> & { status?: OrderStatus },
  now: string,
): Omit<Order, 'id' | 'orderNumber'> {
  const status = given.status ?? 'pending'
  return {
    status,
    customerName: given.customerName,
    customerEmail: given.customerEmail,
    vesselName: given.vesselName ?? null,
    imoNumber: sevenDigits(given.imoNumber),
    calculatorType: given.calculatorType ?? null,
    calculatorData: given.calculatorData ?? null,
    co2eKg: given.co2eKg,
    amountMinor: given.amountMinor,
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
export function momentsAt(order: Pick<Order, 'fulfilledAt'>, status: OrderStatus, now: string) {
  const fulfilledAt = status === 'fulfilled' ? now : status === 'pending' ? null : order.fulfilledAt
  return { fulfilledAt, cancelledAt: status === 'cancelled' ? now : null }
}

function nextVersion(order: Order, wanted: Partial<Order>, now: string): Changed {
  const changes = (Object.keys(wanted) as (keyof Order)[])
    .filter((field) => !isDeepStrictEqual(order[field], wanted[field]))
    .map((field): FieldChange => ({ field, from: order[field], to: wanted[field] }))
  if (changes.length === 0) return { outcome: 'unchanged', order }
  const { status = order.status } = wanted
  const moments = status === order.status ? {} : momentsAt(order, status, now)
  return {
    outcome: 'changed',
    order: { ...order, ...wanted, ...moments, updatedAt: now, version: order.version + 1 },
    changes,
  }
}

/** An order with an administrator's changes, or why it cannot have them. Pure. */
export function changedOrder(
  order: Order,
  { imoNumber, ...rest }: OrderChanges,
  now: string,
): Changed {
  const wanted: Partial<Order> = {
    ...rest,
    ...(imoNumber === undefined ? {} : { imoNumber: sevenDigits(imoNumber) }),
  }
  const { status } = wanted
  const moves = movesFrom(order.status)
  if (status !== undefined && status !== order.status && !moves.includes(status)) {
    return { outcome: 'no such move', order, moves }
  }
  return nextVersion(order, wanted, now)
}

/** An order called off. Again changes nothing. */
export const cancelledOrder = (order: Order, now: string): Changed =>
  nextVersion(order, { status: 'cancelled' }, now)
