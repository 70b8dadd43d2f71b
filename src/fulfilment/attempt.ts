import { createNextVersion, type ChangeOutcome } from '../orders/apply-changes.js'
import type { FieldChange, Order } from '../orders/order.js'
import type { OrderStatus } from '../orders/order-status.js'

/**
 * How far an attempt has come to place an order at the order source:
 * - `sent`: noted before it was sent; what came of it is not known here (yet)
 * - `unanswered`: it was sent, and the answer has not come
 * - `placed`: the order source has taken it
 * - `refused`: it was not ordered, for a reason
 * - `released`: it was not found there, or its id was taken away here, and an administrator has let
 *   go of it
 */
export type AttemptState = 'sent' | 'unanswered' | 'placed' | 'refused' | 'released'

/** An attempt to place an order at the order source, as the order's history keeps it. */
export interface FulfilmentAttempt {
  state: AttemptState
  /** Made at random, and given to the order source as part of its note: by it the order is found there */
  reference: string
  /** Who began it */
  by: string
  /** When it was begun, ISO 8601 */
  sentAt: string
  portfolioId: number
  portfolioName: string
  /** Tons of CO2e that were asked for, or, once it is placed, taken */
  tons: number
  /** The price that was confirmed, or, once it is placed, charged */
  amountMinor: number
  currency: string
  /** Its id there, once it is placed */
  orderSourceId?: string
  /** Why it was not ordered, or taken for not there, in the order source's words or ours */
  reason?: string
  /** The HTTP status that it was refused with */
  status?: number
}

/** The field by which changes of it stand in the history; it is not one of the order's own. */
export const ATTEMPT_FIELD = 'placement'

/** In these it makes sense to spend money on an order. */
const MAY_BE_PLACED: readonly OrderStatus[] = ['pending', 'paid', 'processing']

const isPlacement = (value: unknown): value is FulfilmentAttempt =>
  typeof value === 'object' && value !== null && 'state' in value && 'reference' in value

/** The latest attempt that a history tells of; `null` where there was none. */
export function findLatestAttempt(
  history: readonly { changes: readonly FieldChange[] }[],
): FulfilmentAttempt | null {
  for (const { changes } of history) {
    const value = changes.find(({ field }) => field === ATTEMPT_FIELD)?.to
    if (isPlacement(value)) return value
  }
  return null
}

/** What was confirmed of an attempt when it was sent. */
export const findConfirmedAttempt = (
  history: readonly { changes: readonly FieldChange[] }[],
  reference: string,
): FulfilmentAttempt | null =>
  history
    .map((entry) => findLatestAttempt([entry]))
    .find((step) => step?.reference === reference && step.state === 'sent') ?? null

/** Whether an order was placed under an id, and somebody has let go of that since. */
export function isReset(
  history: readonly { changes: readonly FieldChange[] }[],
  orderSourceId: string,
): boolean {
  const steps = history.map((entry) => findLatestAttempt([entry])).filter((step) => step !== null)
  const placed = steps.find((step) => step.orderSourceId === orderSourceId)
  return steps.some(
    ({ state, reference }) => state === 'released' && reference === placed?.reference,
  )
}

/** Steps after which it is there, or may be. */
const MAY_BE_THERE: readonly AttemptState[] = ['sent', 'unanswered', 'placed']

/**
 * Whether it is or may be ordered, though the order has no id of it: nothing more is sent until that
 * is settled.
 */
export const isOpen = (
  order: Order,
  placement: FulfilmentAttempt | null,
): placement is FulfilmentAttempt =>
  order.orderSourceId === null && placement !== null && MAY_BE_THERE.includes(placement.state)

/** The id that an order was bought under, though it has none any more; else `null`. */
export const getPurchase = (order: Order, placement: FulfilmentAttempt | null): string | null =>
  isOpen(order, placement) && placement.state === 'placed'
    ? (placement.orderSourceId ?? placement.reference)
    : null

/** Whether an order may be sent to the order source. */
export const canBePlaced = (order: Order, placement: FulfilmentAttempt | null): boolean =>
  order.orderSourceId === null &&
  order.co2eKg > 0 &&
  MAY_BE_PLACED.includes(order.status) &&
  !isOpen(order, placement)

/** Whether a step comes after what there is. That something was bought is noted in any case, once. */
function follows(
  order: Order,
  before: FulfilmentAttempt | null,
  { state, reference }: FulfilmentAttempt,
): boolean {
  if (state === 'sent') return canBePlaced(order, before)
  const isSame = before?.reference === reference
  if (state === 'placed') {
    return !(isSame && before.state === 'placed') || order.orderSourceId === null
  }
  return isSame && isOpen(order, before) && before.state !== state
}

/**
 * An order with the next step of its placement in its history, and once it is placed with its id
 * there, unless it has one. A step that does not follow changes nothing. Pure.
 *
 * @param history what became of it, newest first
 */
export function applyAttempt(
  order: Order,
  history: readonly { changes: readonly FieldChange[] }[],
  step: FulfilmentAttempt,
  now: string,
): ChangeOutcome {
  const before = findLatestAttempt(history)
  if (!follows(order, before, step)) return { outcome: 'unchanged', order }
  const orderSourceId = step.state === 'placed' ? (step.orderSourceId ?? null) : null
  const wanted = order.orderSourceId === null && orderSourceId !== null ? { orderSourceId } : {}
  return createNextVersion(order, wanted, now, {
    extraChanges: [{ field: ATTEMPT_FIELD, from: before, to: step }],
  })
}
