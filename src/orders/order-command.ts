import { applyAttempt, type FulfilmentAttempt } from './attempt.js'
import { applyChanges, cancelOrder, recalculateOrder, type ChangeOutcome } from './apply-changes.js'
import { eraseFormerCustomer, eraseOrder } from './erasure.js'
import type { FieldChange, Order, OrderChanges } from './order.js'
import { undoLastChange } from './undo.js'

/**
 * A change to an order. Both kinds of erasure also erase personal data from the order's history;
 * `erase` also erases it from the order's events that have not been dispatched.
 */
export type OrderCommand =
  | { type: 'edit'; changes: OrderChanges }
  | { type: 'cancel' }
  | { type: 'undo' }
  | { type: 'recalculate' }
  | { type: 'attempt'; attempt: FulfilmentAttempt }
  | { type: 'erase' }
  | { type: 'erase_former_customer' }

/** Whether the store must erase personal data from the order's earlier changes. */
export const erasesHistory = ({ type }: OrderCommand): boolean =>
  type === 'erase' || type === 'erase_former_customer'

/**
 * Applies a command to an order. Pure.
 *
 * @param history the order's history, newest first
 * @param now ISO 8601
 */
export function applyCommand(
  order: Order,
  history: readonly { changes: readonly FieldChange[] }[],
  command: OrderCommand,
  now: string,
): ChangeOutcome {
  switch (command.type) {
    case 'edit':
      return applyChanges(order, command.changes, now)
    case 'cancel':
      return cancelOrder(order, now)
    case 'undo':
      return undoLastChange(order, history, now)
    case 'recalculate':
      return recalculateOrder(order, now)
    case 'attempt':
      return applyAttempt(order, history, command.attempt, now)
    case 'erase':
      return eraseOrder(order, now)
    case 'erase_former_customer':
      return eraseFormerCustomer(order, now)
  }
}
