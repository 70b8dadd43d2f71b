import type { FastifyBaseLogger } from 'fastify'
import { DAY_MS, HOUR_MS } from '../core/time.js'
import { createKeyedMutex } from '../database/state-store/state-store.js'
import { isPaid } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import type { OrderStore } from '../orders/store/order-store.js'
import type { PaymentStore } from './payment-store.js'
import { getBalance, isSameAmount, type Payment } from './payment.js'
import { createBusyProblem, settlePayment } from './settle-payment.js'
import { StripeRefusedError, type StripeGateway } from './stripe-gateway.js'

export interface PaymentServices {
  store: OrderStore
  payments: PaymentStore
  stripe: StripeGateway
  /** Pause between checks of a new payment, ms */
  checkMs: number
  log: FastifyBaseLogger
  /** Called before it is recorded that all money of a cancelled or refunded order was returned */
  onReturned: (order: Order) => Promise<void>
}

interface CheckOptions {
  /** Query Stripe once, with a short timeout */
  isQuick?: boolean
  /** The user in the history entry if the order becomes refunded */
  by?: string
}

interface CheckedPayment {
  payment: Payment
  /** Where the guest pays, while the session is open */
  url: string | null
}

/**
 * A payment whose session ID is still unknown is checked again after this time. By then, a session
 * whose ID was lost has expired: sessions are open for a day.
 */
const MAX_CREATING_MS = 25 * HOUR_MS
/** Refunds and disputes are possible for about this long. */
const MAX_PAID_MS = 180 * DAY_MS

/** When to query Stripe again, in case a webhook is lost; `null` if nothing can change. */
function getNextCheck(payment: Payment, now: number, checkMs: number): number | null {
  const age = now - payment.createdAt
  switch (payment.state) {
    case 'creating':
      return payment.createdAt + MAX_CREATING_MS
    case 'open':
      return now + checkMs * (age < 10 * checkMs ? 1 : age < 120 * checkMs ? 10 : 60)
    case 'processing':
      return now + checkMs * 60
    case 'paid':
      if (getBalance(payment) === 0 || age > MAX_PAID_MS) return null
      return now + (age < DAY_MS ? 6 * HOUR_MS : age < 7 * DAY_MS ? DAY_MS : 7 * DAY_MS)
    default:
      return null
  }
}

/**
 * Creates the function that queries Stripe for a payment and records its state, in the payment and
 * in the order. Webhooks, returning guests and the periodic check call it in any order, and any
 * number of times. Throws StripeUnavailableError, StripeRefusedError, a Problem (503) if the payment
 * keeps changing, or errors from the stores.
 */
export function createPaymentCheck({
  store,
  payments,
  stripe,
  checkMs,
  log,
  onReturned,
}: PaymentServices) {
  /** Expires the session, so that the guest can no longer pay; returns whether it was open. */
  async function expire(sessionId: string): Promise<boolean> {
    try {
      await stripe.expireSession(sessionId)
      return true
    } catch (error) {
      if (error instanceof StripeRefusedError) return false
      throw error
    }
  }

  async function recordState(payment: Payment, options: CheckOptions) {
    if (payment.sessionId === null) {
      const isLost = Date.now() - payment.createdAt > MAX_CREATING_MS
      const state = payment.state === 'creating' && isLost ? 'expired' : payment.state
      return { url: null, recorded: await payments.update(payment, { state }) }
    }
    const {
      id: sessionId,
      url,
      ...session
    } = await stripe.readSession(payment.sessionId, options.isQuick)
    const changes = { ...session, sessionId, checkAt: Date.now() + checkMs }
    return { url, recorded: await payments.update(payment, changes) }
  }

  /** Returns `null` if the payment was changed concurrently. */
  async function tryCheck(payment: Payment, options: CheckOptions): Promise<CheckedPayment | null> {
    const { url, recorded } = await recordState(payment, options)
    if (recorded === null) return null
    const others = (await payments.list(payment.orderId)).filter(({ id }) => id !== payment.id)
    const { order, ...settlement } = await settlePayment(store, recorded, others, options.by)
    let { state } = recorded
    const isPayable = order?.status === 'pending' && isSameAmount(recorded, order)
    if (state === 'open' && recorded.sessionId !== null && !isPayable) {
      // The session is no longer open, for example because it was just paid, so check it again.
      if (!(await expire(recorded.sessionId))) return null
      state = 'expired'
    }
    const isReturned = payment.refundedMinor < recorded.refundedMinor && getBalance(recorded) === 0
    if (isReturned && order !== null && !isPaid(order.status)) await onReturned(order)
    const next = { ...recorded, ...settlement, state }
    const checkAt = getNextCheck(next, Date.now(), checkMs)
    const checked = await payments.update(recorded, { ...settlement, state, checkAt })
    if (checked === null) return null
    const { id, orderId, problem, amountMinor, currency } = checked
    if (problem !== null && problem !== payment.problem) {
      const details = { payment: id, orderId, problem, amountMinor, currency }
      log.error(details, 'a payment needs attention')
    }
    return { payment: checked, url: state === 'open' ? url : null }
  }

  async function check(payment: Payment, options: CheckOptions): Promise<CheckedPayment> {
    for (let tries = 0; tries < 10; tries++) {
      const checked = await tryCheck((await payments.get(payment.id)) ?? payment, options)
      if (checked !== null) return checked
    }
    throw createBusyProblem()
  }

  // Concurrent checks of one payment would repeat each other's work, and their requests to Stripe.
  const inTurn = createKeyedMutex()
  return (payment: Payment, options: CheckOptions = {}): Promise<CheckedPayment> =>
    inTurn(payment.id, () => check(payment, options))
}
