import { Problem } from '../core/http/problem.js'
import { isPaid, isRefundDue, type LiveStatus } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import type { OrderStore } from '../orders/store/order-store.js'
import {
  getBalance,
  isDisputed,
  isReturnable,
  isSameAmount,
  STRIPE,
  type Payment,
  type PaymentProblem,
} from './payment.js'

/** The effect of a payment on its order. */
interface Settlement {
  problem: PaymentProblem | null
  settledAt: number | null
  /** The order afterwards; `null` if it does not exist */
  order: Order | null
}

type Store = Pick<OrderStore, 'get' | 'getHistory' | 'apply'>

const MAX_TRIES = 10

/** The order or its payment keeps changing. */
export const createBusyProblem = (): Problem =>
  new Problem(503, 'The order is being changed. Try again in a few seconds.', {
    headers: { 'retry-after': '5' },
  })

/**
 * Whether the history shows that Stripe marked the order as paid. Throws a Problem (503) if the
 * history is not up to date.
 */
async function wasMarkedByStripe(store: Store, order: Order): Promise<boolean> {
  const history = (await store.getHistory(order.id)) ?? []
  if (history[0]?.version !== order.version) throw createBusyProblem()
  return history.some(
    ({ by, changes }) =>
      by === STRIPE && changes.some(({ field, to }) => field === 'status' && to === 'paid'),
  )
}

interface Decision {
  /** The new status of the order; `null` if it stays as it is */
  status: LiveStatus | null
  problem: PaymentProblem | null
  isSettled: boolean
}

/**
 * Decides what to do with an order, based on its state and the state of its payment. Pure.
 *
 * @param isMarkedByStripe whether this payment marked the order as paid, but the service stopped
 *   before it recorded the payment as settled
 */
function decideSettlement(order: Order, payment: Payment, isMarkedByStripe: boolean): Decision {
  const isSettled = payment.settledAt !== null
  const none = (problem: PaymentProblem | null): Decision => ({ status: null, problem, isSettled })
  const settle = (status: LiveStatus | null): Decision => ({
    status,
    problem: null,
    isSettled: true,
  })
  if (payment.state !== 'paid') return none(null)
  const isHere = getBalance(payment) > 0
  if (order.status === 'cancelled' || order.status === 'refunded') {
    if (isReturnable(payment)) return none(`order_${order.status}`)
    if (isHere) return none(null)
  }
  if (isHere && isSettled && order.status === 'pending') return none('differs')
  if (isSettled) {
    return !isHere && (isPaid(order.status) || isRefundDue(order)) ? settle('refunded') : none(null)
  }
  if (!isHere) return isMarkedByStripe ? settle('refunded') : none(null)
  if (order.status === 'pending') {
    const isWhole = isSameAmount(payment, order) && payment.refundedMinor === 0
    return isWhole && !isDisputed(payment) ? settle('paid') : none('differs')
  }
  // An administrator accepted a different amount, or this payment marked the order as paid.
  const isAccepted = isPaid(order.status) && (payment.problem === 'differs' || isMarkedByStripe)
  return isAccepted ? settle(null) : none('paid_twice')
}

/**
 * Updates the order that a payment is for: marks it as paid if the whole amount was received, or as
 * refunded if the whole payment was refunded. A second call changes nothing. Throws errors from the
 * order store, or a Problem (503) if the order keeps changing.
 *
 * @param others the other payments of the order
 * @param by the user recorded for a refund
 */
export async function settlePayment(
  store: Store,
  payment: Payment,
  others: readonly Payment[],
  by = STRIPE,
): Promise<Settlement> {
  let order = await store.get(payment.orderId)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (order === null) return { problem: null, settledAt: payment.settledAt, order }
    const settledAt = payment.settledAt ?? Date.now()
    const isMarkedByStripe =
      payment.state === 'paid' &&
      payment.settledAt === null &&
      isPaid(order.status) &&
      others.every((other) => other.settledAt === null) &&
      (await wasMarkedByStripe(store, order))
    const { status, problem, isSettled } = decideSettlement(order, payment, isMarkedByStripe)
    if (status === null) {
      return { problem, settledAt: isSettled ? settledAt : payment.settledAt, order }
    }
    const result = await store.apply(
      order.id,
      { type: 'edit', changes: { status } },
      { by: status === 'paid' ? STRIPE : by, ifVersions: [order.version] },
    )
    if (result.outcome === 'changed' || result.outcome === 'unchanged') {
      return { problem: null, settledAt, order: result.order }
    }
    order = result.outcome === 'not_found' ? null : result.order
  }
  throw createBusyProblem()
}
