import { nextVersion, type Changed } from '../order-changes.js'
import type { FieldChange, Order } from '../order.js'
import type { OrderStatus } from '../order-status.js'

/**
 * How far an attempt has come to place an order at the order source:
 * - `sent`: noted before it was sent; what came of it is not known here (yet)
 * - `unanswered`: it was sent, and the answer has not come
 * - `placed`: the order source has taken it
 * - `refused`: it was not ordered, for a reason
 * - `released`: it was looked for there, not found, and an administrator has let go of it
 */
export type PlacementState = 'sent' | 'unanswered' | 'placed' | 'refused' | 'released'

/** An attempt to place an order at the order source, as the order's history keeps it. */
export interface Placement {
  state: PlacementState
  /** Made at random, and given to the order source as part of its note: by it the order is found there */
  reference: string
  /** Who began it */
  by: string
  /** When it was begun, ISO 8601 */
  sentAt: string
  portfolioId: number
  portfolioName: string
  /** Tons of CO2e */
  tons: number
  /** The price that was confirmed, or, once it is placed, charged */
  amountMinor: number
  currency: string
  /** Its id there, once it is placed */
  orderSourceId?: string
  /** Why it was not ordered, in the order source's words or ours */
  reason?: string
}

/** The field by which changes of it stand in the history; it is not one of the order's own. */
export const PLACEMENT_FIELD = 'placement'

/** In these it makes sense to spend money on an order. */
const MAY_BE_PLACED: readonly OrderStatus[] = ['pending', 'paid', 'processing']

const isPlacement = (value: unknown): value is Placement =>
  typeof value === 'object' && value !== null && 'state' in value && 'reference' in value

/** The latest attempt that a history tells of; `null` where there was none. */
export function placementIn(
  history: readonly { changes: readonly FieldChange[] }[],
): Placement | null {
  for (const { changes } of history) {
    const value = changes.find(({ field }) => field === PLACEMENT_FIELD)?.to
    if (isPlacement(value)) return value
  }
  return null
}

/** Whether it may be ordered without anybody here knowing: nothing more is sent until that is settled. */
export const isOpen = (order: Order, placement: Placement | null): placement is Placement =>
  order.orderSourceId === null && (placement?.state === 'sent' || placement?.state === 'unanswered')

/** Whether an order may be sent to the order source. */
export const mayBePlaced = (order: Order, placement: Placement | null): boolean =>
  order.orderSourceId === null &&
  order.co2eKg > 0 &&
  MAY_BE_PLACED.includes(order.status) &&
  !isOpen(order, placement)

/** Whether a step comes after what there is. That something was bought is noted in any case, once. */
function follows(order: Order, before: Placement | null, { state, reference }: Placement): boolean {
  if (state === 'sent') return mayBePlaced(order, before)
  const isSame = before?.reference === reference
  if (state === 'placed') return !(isSame && before.state === 'placed')
  return isSame && isOpen(order, before) && before.state !== state
}

/**
 * An order with the next step of its placement in its history, and once it is placed with its id
 * there, unless it has one. A step that does not follow changes nothing. Pure.
 *
 * @param history what became of it, newest first
 */
export function steppedOrder(
  order: Order,
  history: readonly { changes: readonly FieldChange[] }[],
  step: Placement,
  now: string,
): Changed {
  const before = placementIn(history)
  if (!follows(order, before, step)) return { outcome: 'unchanged', order }
  const { orderSourceId = null } = step
  const wanted = order.orderSourceId === null && orderSourceId !== null ? { orderSourceId } : {}
  return nextVersion(order, wanted, now, {
    beside: [{ field: PLACEMENT_FIELD, from: before, to: step }],
  })
}
