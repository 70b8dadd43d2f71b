import { isPaid, type OrderStatus } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import type { StatusRequest } from '../orders/pages/order-extensions.js'

/**
 * The state of a payment at Stripe:
 * - `creating`: its session is not known yet
 * - `open`: the guest can pay
 * - `processing`: the guest has paid by a method that takes days
 * - `paid`: money was received, even if it has been refunded since
 * - `failed`: the payment was refused, or no session could be created
 * - `expired`: the guest can no longer pay
 *
 * Stored data: never rename a state.
 */
export type PaymentState = 'creating' | 'open' | 'processing' | 'paid' | 'failed' | 'expired'

/**
 * Why a payment that was received needs attention:
 * - `differs`: its amount or currency differs from the order, or part of it was refunded, or it is
 *   disputed; the order is not marked as paid
 * - `order_cancelled`, `order_refunded`: the order has this status, but the money is not refunded
 * - `paid_twice`: the order had already been paid
 *
 * Stored data: never rename a problem.
 */
export const PAYMENT_PROBLEMS = [
  'differs',
  'order_cancelled',
  'order_refunded',
  'paid_twice',
] as const
export type PaymentProblem = (typeof PAYMENT_PROBLEMS)[number]

/** A guest's attempt to pay for an order through Stripe: one Checkout session. */
export interface Payment {
  id: string
  orderId: string
  /** 1 for the first payment of an order */
  number: number
  state: PaymentState
  /** The amount received; before that, the amount requested; in minor units (ISO 4217) */
  amountMinor: number
  currency: string
  /** IDs at Stripe; `null` while unknown */
  sessionId: string | null
  intentId: string | null
  refundedMinor: number
  /** Stripe's status of the dispute, such as `needs_response`, `won` or `lost` */
  dispute: string | null
  problem: PaymentProblem | null
  /** When the order was recorded as paid by this payment; all times are in ms since 1970 */
  settledAt: number | null
  createdAt: number
  updatedAt: number
  /** When to query Stripe again; `null` if the payment can no longer change */
  checkAt: number | null
  /**
   * Incremented by every change except a claim (`takeDue`), so that processes do not overwrite each
   * other's changes
   */
  revision: number
}

/** Stored as the user who marks orders as paid or refunded. */
export const STRIPE = 'stripe'

/** The amount received and not refunded, in minor units. */
export const getBalance = ({ state, amountMinor, refundedMinor }: Payment): number =>
  state === 'paid' ? Math.max(0, amountMinor - refundedMinor) : 0

/** Whether money is here that can be returned; the bank has taken back what a lost dispute was about. */
export const isReturnable = (payment: Payment): boolean =>
  getBalance(payment) > 0 && payment.dispute !== 'lost'

/**
 * Whether money was received or is on its way, in which case the guest can neither pay nor cancel.
 */
export const isReceived = (payment: Payment): boolean =>
  payment.state === 'processing' || getBalance(payment) > 0

/**
 * Why the credits of an order are not bought automatically, as a clause; `null` if its payments do
 * not forbid it. Orders that are not paid through Stripe have no payments.
 */
export function findPurchaseProblem(
  order: Pick<Order, 'amountMinor' | 'currency'>,
  payments: readonly Payment[],
): string | null {
  if (payments.some(isDisputed)) return 'the customer’s bank disputes the payment'
  const held = payments.filter((payment) => getBalance(payment) > 0)
  const settled = payments.filter(({ settledAt }) => settledAt !== null)
  // Without money that is still here, any refund may have returned what the order was paid with.
  const paidWith = held.length > 0 ? [...held, ...settled] : payments
  if (paidWith.some(({ refundedMinor }) => refundedMinor > 0)) {
    return 'the payment was refunded in part or in full'
  }
  if (payments.some(({ state }) => state === 'processing')) {
    return 'the payment is still being processed'
  }
  return held.every((payment) => isSameAmount(payment, order))
    ? null
    : 'another amount was paid than the order total'
}

/**
 * Why payments through Stripe forbid to undo a change of an order's status, or to mark an order as
 * refunded, as a clause; `null` if they do not.
 */
export function findStatusProblem(
  status: OrderStatus,
  requested: StatusRequest,
  payments: readonly Payment[],
): string | null {
  if (!requested.isUndo) {
    return payments.some(isReceived)
      ? 'paid through Stripe; refund the payment on the order’s page'
      : null
  }
  if (status === 'refunded' && payments.some(({ refundedMinor }) => refundedMinor > 0)) {
    return 'Stripe has returned the money'
  }
  return requested.status === 'pending' && isPaid(status) && payments.some(isReceived)
    ? 'Stripe has received the money; refund the payment instead'
    : null
}

export const isSameAmount = (
  payment: Pick<Payment, 'amountMinor' | 'currency'>,
  order: Pick<Order, 'amountMinor' | 'currency'>,
): boolean => payment.amountMinor === order.amountMinor && payment.currency === order.currency

/** How pages, filters and exports show a payment: its state, including full and partial refunds. */
export const PAYMENT_STATUSES = [
  'open',
  'processing',
  'paid',
  'partially_refunded',
  'refunded',
  'failed',
  'expired',
] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

export function getPaymentStatus({ state, amountMinor, refundedMinor }: Payment): PaymentStatus {
  if (state === 'creating') return 'open'
  if (state !== 'paid' || refundedMinor === 0) return state
  return refundedMinor < amountMinor ? 'partially_refunded' : 'refunded'
}

/** Whether a dispute has taken the money back, or still can. */
export const isDisputed = ({ dispute }: Pick<Payment, 'dispute'>): boolean =>
  dispute !== null && dispute !== 'won' && dispute !== 'warning_closed' && dispute !== 'prevented'
