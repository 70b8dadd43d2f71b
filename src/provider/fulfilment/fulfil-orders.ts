import { setTimeout as sleep } from 'node:timers/promises'
import type { Amount } from '../../orders/amount.js'
import {
  canBeFulfilled,
  findLatestAttempt,
  getLostProviderId,
  isUnresolved,
  listAttempts,
  listRefusedAttempts,
  toAmount,
  type FulfilmentAttempt,
} from '../../orders/attempt.js'
import { getBeneficiary } from '../../orders/erase-order.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import type { ChangeContext, OrderStore } from '../../orders/store/order-store.js'
import type { OffsetOrder, Portfolio } from '../offset-order.js'
import type { OffsetOrderSource } from '../order-source-client.js'
import {
  createProviderCheck,
  createReference,
  getTons,
  getValue,
  isInconclusive,
  requestQuote,
  type CheckResult,
  type FulfilResult,
  type ProviderFailure,
  type QuoteResult,
  type ResetResult,
} from './provider-requests.js'

/** A quote that an administrator or the automatic fulfilment has confirmed. */
interface ConfirmedQuote {
  /** Version of the order that was shown */
  version: number
  /** Result of `findPlacementProblem` that was shown */
  problem: string | null
  portfolioId: number
  price: Amount
  by: string
}

/** What an administrator confirms before another attempt is allowed. */
interface ResetConfirmation {
  /** The provider order ID that the order has lost */
  lostProviderId?: string | null
  /** The reference that the administrator looked for at the provider and did not find */
  searchedReference?: string | null
}

/** An attempt that takes longer to record is not sent. */
const MAX_RECORDING_MS = 15_000
/** Delays between attempts to record an outcome */
const RECORDING_DELAYS_MS = [0, 200, 1_000, 3_000]

const ANY_VERSION = null

const isSamePrice = (a: Amount, b: Amount): boolean =>
  a.amountMinor === b.amountMinor && a.currency === b.currency

/**
 * Places orders with the provider, each at most once. Because providers may not honour idempotency
 * keys, an attempt is recorded in the order before the request is sent, and its outcome afterwards.
 */
export function createFulfilment(
  store: OrderStore,
  source: OffsetOrderSource,
  /** Returns why other features forbid to buy the credits of an order, as a clause */
  findProblem: (order: Order) => Promise<string | null>,
) {
  const maxInFlightMs = MAX_RECORDING_MS + source.maxRequestMs
  /**
   * When this process started attempts, by reference and the monotonic clock. Those older than
   * `maxInFlightMs` are deleted when another attempt starts.
   */
  const startTimes = new Map<string, number>()
  const providerCheck = createProviderCheck(store, source)

  function startTimer({ reference }: FulfilmentAttempt): void {
    const now = performance.now()
    for (const [old, time] of startTimes) if (now - time > maxInFlightMs) startTimes.delete(old)
    startTimes.set(reference, now)
  }

  /** How long ago an attempt started, ms; by the wall clock if its start is not in memory. */
  function getElapsedMs({ reference, sentAt }: FulfilmentAttempt): number {
    const startedAt = startTimes.get(reference)
    return startedAt === undefined ? Date.now() - Date.parse(sentAt) : performance.now() - startedAt
  }

  const load = async (id: string) => {
    // Read the order first, so that its version is outdated if the history changes in between.
    const order = await store.get(id)
    if (order === null) return null
    const history = (await store.getHistory(id)) ?? []
    return { order, history, attempt: findLatestAttempt(history) }
  }

  /** Records an attempt's outcome; `false` if the store cannot be written to. */
  async function record(id: string, attempt: FulfilmentAttempt): Promise<boolean> {
    for (const delayMs of RECORDING_DELAYS_MS) {
      await sleep(delayMs)
      try {
        const context = { by: attempt.by, ifVersions: ANY_VERSION }
        await store.apply(id, { type: 'attempt', attempt }, context)
        return true
      } catch {
        // Whatever the error was, the next try may succeed.
      }
    }
    return false
  }

  async function recordPlaced(order: Order, attempt: FulfilmentAttempt, providerId: string) {
    const isRecorded = await record(order.id, attempt)
    if (!isRecorded) providerCheck.addUnrecorded(providerId, order.orderNumber)
    const updated = isRecorded ? await store.get(order.id) : null
    return updated === null
      ? ({ outcome: 'placed_not_recorded', id: providerId } as const)
      : ({ outcome: 'placed', order: updated, id: providerId } as const)
  }

  /** Sends a recorded attempt. */
  async function send(order: Order, attempt: FulfilmentAttempt): Promise<FulfilResult> {
    const recordRefusal = (why: Pick<FulfilmentAttempt, 'reason' | 'status'>) =>
      record(order.id, { ...attempt, state: 'refused', ...why })

    if (getElapsedMs(attempt) > MAX_RECORDING_MS) {
      await recordRefusal({ reason: 'recording it took too long, so it was not sent' })
      return { outcome: 'unreachable' }
    }
    const { tons, portfolioId, reference } = attempt
    const onBehalfOfName = getBeneficiary(order)
    const request = {
      tons,
      portfolioId,
      note: `${order.orderNumber} ${reference}`,
      dryRun: false,
      ...(onBehalfOfName === null ? {} : { onBehalfOfName }),
    }
    const response = await source.placeOrder(request, reference)
    switch (response.outcome) {
      case 'ok': {
        const { id: orderSourceId, amount, tons: placedTons } = response.value
        if (orderSourceId === null) return { outcome: 'unknown' }
        const placed: FulfilmentAttempt = {
          ...attempt,
          ...toAmount(amount, attempt.currency),
          tons: placedTons,
          state: 'placed',
          orderSourceId,
        }
        return recordPlaced(order, placed, orderSourceId)
      }
      case 'refused': {
        const { status, message } = response
        await recordRefusal({ reason: message || 'the provider gave no reason', status })
        return response
      }
      case 'unreachable':
      case 'invalid_response':
        await recordRefusal({ reason: 'the provider could not be reached' })
        return response
      case 'unknown':
        await record(order.id, { ...attempt, state: 'unanswered' })
        return response
    }
  }

  /** How much longer an attempt may be in progress, ms. */
  const getRemainingMs = (attempt: FulfilmentAttempt): number =>
    Math.max(0, maxInFlightMs - getElapsedMs(attempt))

  /**
   * Looks for attempts of an order at the provider; if one was placed, records the provider order ID.
   *
   * @param by the user who checks; by default, the one who made the attempt
   */
  async function findPlaced(
    order: Order,
    attempts: readonly FulfilmentAttempt[],
    by?: string,
  ): Promise<CheckResult> {
    const result = await providerCheck.find(attempts)
    if (result.outcome !== 'placed') return result
    const { attempt } = result
    const context = { by: by ?? attempt.by, ifVersions: ANY_VERSION }
    await store.apply(order.id, { type: 'attempt', attempt }, context)
    return { outcome: 'found', order: (await store.get(order.id)) ?? order }
  }

  async function check(id: string, by: string): Promise<CheckResult> {
    const current = await load(id)
    if (current === null) return { outcome: 'not_found' }
    const { order, attempt } = current
    return isUnresolved(order, attempt)
      ? findPlaced(order, [attempt], by)
      : { outcome: 'resolved', order }
  }

  /**
   * Returns why an order should not be sent to the provider, as a clause: `findProblem`, credits that
   * are retired, or an order that the provider may have. After a backup was restored, the history
   * lacks attempts, so the provider's notes are searched for the order number.
   */
  async function findPlacementProblem(
    order: Order,
    history: readonly HistoryEntry[],
  ): Promise<string | null> {
    if (order.retirement !== null) return 'its carbon credits are already retired'
    const response = getValue(await source.listOrders())
    const orders = 'value' in response ? response.value.orders : []
    const recorded = listAttempts(history).map(({ reference }) => reference)
    const known = orders.find(
      ({ note }) =>
        note?.startsWith(`${order.orderNumber} `) &&
        !recorded.some((reference) => note.includes(reference)),
    )
    if (known !== undefined) return `the provider has an order with its number, ${known.id}`
    const isComplete = 'value' in response && response.value.isComplete
    if (!isComplete && listRefusedAttempts(history).length > 0) {
      return 'the provider refused it before, and its list does not show whether it was placed'
    }
    return findProblem(order)
  }

  return {
    getRemainingMs,
    /** Checks with the provider whether the unresolved attempt of an order was placed. */
    check,
    findPlaced,
    findProblem,
    findPlacementProblem,

    listPortfolios: async (): Promise<{ value: Portfolio[] } | ProviderFailure> =>
      getValue(await source.listPortfolios()),
    /** Requests the price of an order with a portfolio; nothing is ordered. */
    getQuote: (order: Order, portfolioId: number): Promise<QuoteResult> =>
      requestQuote(source, order, portfolioId),
    /** Returns the provider's record of an order; `null` if it has none. */
    getProviderOrder: async (
      orderSourceId: string,
    ): Promise<{ value: OffsetOrder | null } | ProviderFailure> =>
      getValue(await source.getOrder(orderSourceId)),

    /**
     * Places an order as confirmed. The attempt is recorded only if the order still has the
     * confirmed version, so that only one of several concurrent requests is sent. An order that
     * the provider has placed although it refused it is not sent again.
     */
    async fulfil(
      id: string,
      { version, problem: confirmedProblem, portfolioId, price: confirmed, by }: ConfirmedQuote,
    ): Promise<FulfilResult> {
      const current = await load(id)
      if (current === null) return { outcome: 'not_found' }
      const { order } = current
      if (!canBeFulfilled(order, current.attempt)) return { outcome: 'not_fulfillable', order }
      if (order.version !== version) return { outcome: 'version_conflict', order }
      const quote = await requestQuote(source, order, portfolioId)
      if (quote.outcome !== 'quoted') return quote
      if (!isSamePrice(quote.price, confirmed)) {
        return { outcome: 'price_changed', price: quote.price }
      }
      const refused = listRefusedAttempts(current.history)
      if (refused.length > 0) {
        const result = await findPlaced(order, refused)
        if (result.outcome === 'found') {
          const { orderSourceId } = result.order
          return { outcome: 'placed', order: result.order, id: orderSourceId ?? '' }
        }
      }
      // Last, because it can change at any time.
      const problem = await findPlacementProblem(order, current.history)
      if (problem !== null && problem !== confirmedProblem) {
        return { outcome: 'placement_problem', problem }
      }
      const attempt: FulfilmentAttempt = {
        state: 'sent',
        reference: createReference(),
        by,
        sentAt: new Date().toISOString(),
        portfolioId,
        portfolioName: quote.portfolio.name,
        tons: getTons(order),
        ...quote.price,
      }
      startTimer(attempt)
      const context: ChangeContext = { by, ifVersions: [version] }
      const recorded = await store.apply(id, { type: 'attempt', attempt }, context)
      switch (recorded.outcome) {
        case 'changed':
          return send(recorded.order, attempt)
        case 'unchanged':
        case 'invalid_transition':
          return { outcome: 'not_fulfillable', order: recorded.order }
        default: {
          // Most likely a concurrent request is placing the order.
          const latest = await load(id)
          return latest !== null && !canBeFulfilled(latest.order, latest.attempt)
            ? { outcome: 'not_fulfillable', order: latest.order }
            : recorded
        }
      }
    },

    /**
     * Allows another attempt in one of three cases: the order was not placed; the provider's
     * response is inconclusive and an administrator did not find the order at the provider; or the
     * order was placed, and an administrator confirms the provider order ID that it has lost.
     */
    async reset(
      id: string,
      by: string,
      { lostProviderId = null, searchedReference = null }: ResetConfirmation = {},
    ): Promise<ResetResult> {
      const current = await load(id)
      const attempt = current?.attempt
      const isPurchaseGivenUp =
        lostProviderId !== null &&
        current !== null &&
        getLostProviderId(current.order, current.attempt) === lostProviderId
      let isVouchedFor = false
      if (!isPurchaseGivenUp || attempt == null) {
        const result = await check(id, by)
        if (attempt == null || attempt.state === 'placed') return result
        isVouchedFor = isInconclusive(result) && searchedReference === attempt.reference
        const isInFlight = getRemainingMs(attempt) > 0
        if (result.outcome !== 'not_placed' && (isInFlight || !isVouchedFor)) return result
        if (isInFlight) return { outcome: 'too_early' }
      }
      const reset: FulfilmentAttempt = {
        ...attempt,
        state: 'released',
        ...(isVouchedFor ? { reason: 'an administrator searched for it at the provider' } : {}),
      }
      const context = { by, ifVersions: ANY_VERSION }
      const result = await store.apply(id, { type: 'attempt', attempt: reset }, context)
      if (result.outcome === 'not_found') return result
      return result.outcome === 'changed'
        ? { outcome: 'reset', order: result.order }
        : { outcome: 'resolved', order: result.order }
    },
  }
}

export type Fulfilment = ReturnType<typeof createFulfilment>
