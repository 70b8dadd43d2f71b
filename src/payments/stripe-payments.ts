import type { Queryable } from '../database/database.js'
import type { OrderEvent } from '../orders/order-event.js'
import type { Order } from '../orders/order.js'
import { createPaymentCheck, type PaymentServices } from './check-payment.js'
import { getBalance, isReceived, isSameAmount, type Payment } from './payment.js'
import { toStripeAmount } from './stripe-amount.js'
import {
  buildSessionParams,
  StripeRefusedError,
  StripeUnavailableError,
  type StripeEvent,
  type StripeSession,
} from './stripe-gateway.js'

const MAX_AGE_MS = 2_000

/**
 * Shares calls among requests: a call in progress, and a result less than two seconds old. Errors
 * are shared only with the requests that wait for them.
 *
 * @param isKept whether to share a result after the call has ended
 */
function createSharedCalls<T>(isKept: (result: T) => boolean = () => false) {
  const calls = new Map<string, Promise<T>>()

  return (key: string, start: () => Promise<T>): Promise<T> => {
    const known = calls.get(key)
    if (known !== undefined) return known
    const call = start()
    const forget = (): void => void calls.delete(key)
    calls.set(key, call)
    call.then(
      (result) => (isKept(result) ? setTimeout(forget, MAX_AGE_MS).unref() : forget()),
      forget,
    )
    return call
  }
}

/** Where to send a guest who wants to pay. */
type StartResult =
  | { outcome: 'redirect'; url: string }
  /** There is nothing to pay, or money was received or is on its way */
  | { outcome: 'not_payable' }
  /** Stripe did not respond, refused the request, or cannot charge the amount exactly */
  | { outcome: 'unavailable' }

/** `received`: money was received or is on its way, so the guest cannot cancel the order. */
type CloseResult = 'closed' | 'received' | 'unavailable'

export type RefundResult =
  | { outcome: 'refunded' | 'nothing_to_refund' }
  | { outcome: 'unavailable' }
  /** Another amount would be refunded than expected */
  | { outcome: 'changed' }
  /** Stripe's reason, without secrets */
  | { outcome: 'refused'; reason: string }

/** `unknown`: Stripe did not respond. */
type OnRefund = (
  refund: Pick<Payment, 'amountMinor' | 'currency'> & { outcome?: 'unknown' },
) => Promise<void>

interface Refund {
  by: string
  /** The amount that was confirmed; `null` refunds whatever is left */
  expectedMinor: number | null
  /** Called once for each request to Stripe, even if several requests share it */
  onRefund: OnRefund
}

/** Maximum number of payments per pass. Small, because a shutdown waits until the pass ends. */
const BATCH_SIZE = 5
const REFUSED_PAUSE_MS = 60 * 60 * 1000

/** Payments of guest orders through Stripe. */
export function createStripePayments(services: PaymentServices) {
  const { store, payments, stripe, checkMs, log } = services
  const check = createPaymentCheck(services)
  const starts = createSharedCalls<StartResult>(({ outcome }) => outcome === 'redirect')
  const closes = createSharedCalls<CloseResult>()
  const refreshes = createSharedCalls<boolean>((isChecked) => isChecked)
  const refunds = createSharedCalls<RefundResult>()

  /** Logs a Stripe error; throws any other error. */
  function logStripeError(error: unknown, payment: Payment | null): void {
    const isStripeError =
      error instanceof StripeUnavailableError || error instanceof StripeRefusedError
    if (!isStripeError) throw error
    log.error({ payment: payment?.id, orderId: payment?.orderId }, `Stripe: ${error.message}`)
  }

  /** Records the session of a payment; returns `null` if the payment was closed in the meantime. */
  async function saveSession(payment: Payment, session: StripeSession): Promise<Payment | null> {
    if (payment.sessionId === session.id) return payment
    if (payment.state !== 'creating') return null
    const checkAt = Date.now() + checkMs
    const changes = { sessionId: session.id, state: 'open', checkAt } as const
    const saved = await payments.update(payment, changes)
    if (saved !== null) return saved
    const current = await payments.get(payment.id)
    return current && saveSession(current, session)
  }

  /** Creates the session for a payment, or gets the session that an earlier request created. */
  async function openSession(
    order: Order,
    payment: Payment,
    orderUrl: string,
  ): Promise<StartResult> {
    const params = buildSessionParams(order, payment, orderUrl)
    if (params === null) {
      log.error({ payment: payment.id }, 'Stripe cannot charge this amount exactly')
      return { outcome: 'unavailable' }
    }
    let session
    try {
      session = await stripe.createSession(params, payment.id)
    } catch (error) {
      // Stripe may repeat this response, so the next attempt needs a new payment.
      if (!(error instanceof StripeUnavailableError && !error.isRepeated)) {
        await payments.update(payment, { state: 'failed', checkAt: null })
      }
      throw error
    }
    const saved = await saveSession(payment, session)
    const current = await store.get(order.id)
    const isPayable = current?.status === 'pending' && isSameAmount(payment, current)
    if (saved !== null && isPayable && session.url !== null) {
      return { outcome: 'redirect', url: session.url }
    }
    // The order was cancelled, paid or changed in the meantime.
    if (saved === null) await stripe.expireSession(session.id)
    else await close(saved)
    return { outcome: 'not_payable' }
  }

  async function start(
    order: Order,
    found: Payment | null,
    orderUrl: string,
  ): Promise<StartResult> {
    let latest = found
    if (latest !== null && latest.state !== 'creating' && latest.state !== 'failed') {
      // Expires the session if the amount of the order has changed.
      const { payment, url } = await check(latest)
      if (url !== null) return { outcome: 'redirect', url }
      if (isReceived(payment)) return { outcome: 'not_payable' }
      latest = payment
    }
    if (latest?.state === 'creating' && isSameAmount(latest, order)) {
      return openSession(order, latest, orderUrl)
    }
    if (latest?.state === 'creating') await close(latest)
    const payment = await payments.add(order, (latest?.number ?? 0) + 1, Date.now() + checkMs)
    return openSession(order, payment, orderUrl)
  }

  /** Closes a payment, so that the guest can no longer pay. */
  async function close(payment: Payment): Promise<Exclude<CloseResult, 'unavailable'>> {
    if (payment.state === 'creating' && payment.sessionId === null) {
      const closed = await payments.update(payment, { state: 'expired', checkAt: null })
      if (closed !== null) return 'closed'
      const current = await payments.get(payment.id)
      return current === null ? 'closed' : close(current)
    }
    if (payment.state !== 'open') return isReceived(payment) ? 'received' : 'closed'
    if (payment.sessionId !== null) {
      await stripe.expireSession(payment.sessionId).catch((error: unknown) => {
        // The session is no longer open, so its state is read below.
        if (!(error instanceof StripeRefusedError)) throw error
      })
    }
    const { payment: checked } = await check(payment)
    if (isReceived(checked)) return 'received'
    if (checked.state === 'open') throw new StripeUnavailableError('a session stays open')
    return 'closed'
  }

  async function refund(
    id: string,
    { by, expectedMinor, onRefund }: Refund,
  ): Promise<RefundResult> {
    const found = await payments.get(id)
    if (found === null || getBalance(found) === 0) return { outcome: 'nothing_to_refund' }
    try {
      const { payment } = await check(found, { by })
      const { intentId, currency, refundedMinor } = payment
      const amountMinor = getBalance(payment)
      const amount = toStripeAmount(amountMinor, currency)
      if (intentId === null || amount === null || amount === 0) {
        return { outcome: 'nothing_to_refund' }
      }
      if (expectedMinor !== null && expectedMinor !== amountMinor) return { outcome: 'changed' }
      // A request to another process gets the same refund.
      try {
        await stripe.refund(intentId, amount, `${payment.id}-refund-${refundedMinor}`)
      } catch (error) {
        if (error instanceof StripeUnavailableError) {
          await onRefund({ amountMinor, currency, outcome: 'unknown' })
        }
        throw error
      }
      await onRefund({ amountMinor, currency })
      await check(payment, { by })
      return { outcome: 'refunded' }
    } catch (error) {
      logStripeError(error, found)
      return error instanceof StripeRefusedError
        ? { outcome: 'refused', reason: error.message }
        : { outcome: 'unavailable' }
    }
  }

  async function findPayment(event: StripeEvent): Promise<Payment | null> {
    const { sessionId, paymentId, intentId } = event
    if (sessionId !== null) {
      const known = await payments.findBySession(sessionId)
      if (known !== null || paymentId === null) return known
      // The session was created, but the response has not been recorded yet.
      const payment = await payments.get(paymentId)
      if (payment?.sessionId !== null) return null
      const saved = await payments.update(payment, { sessionId, state: 'open' })
      return saved ?? findPayment(event)
    }
    if (intentId === null) return null
    const known = await payments.findByIntent(intentId)
    if (known !== null) return known
    const session = await stripe.findSessionId(intentId)
    return session === null ? null : payments.findBySession(session)
  }

  async function checkOne(payment: Payment): Promise<void> {
    try {
      await check(payment, { isQuick: true })
    } catch (error) {
      // Only this payment fails, for example because its session is in another Stripe account.
      if (!(error instanceof StripeRefusedError)) throw error
      logStripeError(error, payment)
      await payments.update(payment, { checkAt: Date.now() + REFUSED_PAUSE_MS })
    }
  }

  return {
    /** Returns where the guest pays for an order. Never throws a Stripe error. */
    async start(order: Order, orderUrl: string): Promise<StartResult> {
      if (order.status !== 'pending') return { outcome: 'not_payable' }
      const [latest = null] = await payments.list(order.id)
      // A payment is open once its session is created.
      const state = latest?.state === 'creating' ? 'open' : latest?.state
      const key = JSON.stringify([order.id, order.version, latest?.number, state])
      return starts(key, async () => {
        try {
          return await start(order, latest, orderUrl)
        } catch (error) {
          logStripeError(error, latest)
          return { outcome: 'unavailable' }
        }
      })
    },

    /**
     * Queries Stripe for the payments of an order that were received, in case a webhook about a
     * refund or a dispute is late. Throws StripeUnavailableError or StripeRefusedError.
     */
    async checkReceived(orderId: string): Promise<void> {
      for (const payment of await payments.list(orderId)) {
        if (payment.state === 'paid') await check(payment, { isQuick: true })
      }
    },

    /** Closes an order's payment, so that the guest cannot pay. Never throws a Stripe error. */
    close: (orderId: string): Promise<CloseResult> =>
      closes(orderId, async () => {
        const [latest = null] = await payments.list(orderId)
        if (latest === null) return 'closed'
        try {
          return await close(latest)
        } catch (error) {
          logStripeError(error, latest)
          return 'unavailable'
        }
      }),

    /** Queries Stripe when a guest returns, with a short timeout. Logs errors from the query. */
    async refresh(orderId: string): Promise<void> {
      await refreshes(orderId, async () => {
        const [latest = null] = await payments.list(orderId)
        if (latest?.state !== 'open' && latest?.state !== 'processing') return false
        try {
          await check(latest, { isQuick: true })
          return true
        } catch (err) {
          // The page shows the last recorded state.
          log.warn({ err, payment: latest.id }, 'a payment could not be checked')
          return false
        }
      })
    },

    /** Refunds the remaining amount of a payment, exactly once. Never throws a Stripe error. */
    refund: (id: string, options: Refund): Promise<RefundResult> =>
      refunds(id, () => refund(id, options)),

    /** Processes a webhook. If it throws, Stripe sends the webhook again. */
    async processEvent(event: StripeEvent): Promise<void> {
      const payment = await findPayment(event)
      if (payment !== null) await check(payment)
    },

    /** Makes the payments of a guest order due for a check when the order changes. */
    consume: async (tx: Queryable, { order, previousStatus }: OrderEvent): Promise<void> => {
      if (order.origin !== 'guest' || previousStatus === null) return
      await payments.makeDue(tx, order.id, order.status !== previousStatus)
    },

    /** Queries Stripe for payments that are due for a check, in case a webhook was lost. */
    async checkDue(): Promise<void> {
      const due = await payments.takeDue(BATCH_SIZE, Date.now() + checkMs)
      // At the same time, so that one that fails delays no other.
      const checks = await Promise.allSettled(due.map((payment) => checkOne(payment)))
      for (const result of checks) if (result.status === 'rejected') throw result.reason
    },

    readEvent: (body: Buffer, signature: string): StripeEvent | null =>
      stripe.readEvent(body, signature),
  }
}

export type Payments = ReturnType<typeof createStripePayments>
