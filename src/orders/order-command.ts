import { createHash } from 'node:crypto'
import { isObject } from '../core/validation/formats.js'
import { applyAttempt, type FulfilmentAttempt } from './attempt.js'
import {
  applyChanges,
  cancelOrder,
  createFirstVersion,
  createNextVersion,
  recalculateOrder,
  type ChangeOutcome,
} from './change-order.js'
import { eraseFormerCustomer, eraseOrder } from './erase-order.js'
import {
  getStatusBeforeCancellation,
  hasBeenPaid,
  LIVE_STATUSES,
  STATUSES_AFTER_FULFILMENT,
  type LiveStatus,
} from './order-status.js'
import type { FieldChange, NewOrder, Order, OrderChanges } from './order.js'

type History = readonly { changes: readonly FieldChange[] }[]

/**
 * The status before the latest change; `undefined` if that change cannot be undone. Only an undo
 * leads back to pending, and an undo is not undone: a person marks the order as paid again.
 */
export function getPreviousStatus(order: Order, [latest]: History): LiveStatus | undefined {
  if (order.status === 'pending') return undefined
  const change = latest?.changes.find(({ field, to }) => field === 'status' && to === order.status)
  return LIVE_STATUSES.find((status) => status === change?.from)
}

/**
 * Undoes the latest status change. A cancelled order returns to its status before the cancellation,
 * even if other fields have been edited since then; it is unchanged if that status is unknown. Any
 * other order returns to its previous status if its latest change was a status change. Pure.
 *
 * @param history newest first
 */
export function undoLastChange(order: Order, history: History, now: string): ChangeOutcome {
  const isCancelled = order.status === 'cancelled'
  const status = isCancelled
    ? getStatusBeforeCancellation(order)
    : getPreviousStatus(order, history)
  if (status == null) return { outcome: 'unchanged', order }
  if (isCancelled) return createNextVersion(order, { status }, now)
  return createNextVersion(order, { status }, now, {
    getFields: ({ paidAt, fulfilledAt }, next) => ({
      cancelledFrom: null,
      paidAt: hasBeenPaid(next) ? paidAt : null,
      fulfilledAt: STATUSES_AFTER_FULFILMENT.includes(next) ? fulfilledAt : null,
      cancelledAt: null,
    }),
  })
}

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
  history: History,
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

/** How long a key protects against creating an order twice, in ms. */
export const IDEMPOTENCY_KEY_TTL_MS = 30 * 24 * 60 * 60 * 1000

/** JSON replacer that sorts keys, so that their order makes no difference. */
const sortKeys = (_name: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** Hashes a value as JSON; the order of keys makes no difference. */
export const hashJson = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('base64url')

/** Hashes a key for storage. The same key from another user has a different hash. */
export const hashIdempotencyKey = (key: string, by: string): string => hashJson([by, key])

const ANY_TIME = '2000-01-01T00:00:00Z'

/**
 * Hashes a new order with defaults filled in. The hash is stored, so it must not depend on the
 * version of Clearwake. Fields that earlier versions did not have are therefore left out, except
 * the checkout of a guest order.
 */
export const hashOrder = (order: NewOrder): string =>
  hashJson({
    ...createFirstVersion(order, ANY_TIME),
    calculation: undefined,
    origin: undefined,
    cancelledFrom: undefined,
    paidAt: undefined,
    retirement: undefined,
    checkout: order.checkout ?? undefined,
  })
