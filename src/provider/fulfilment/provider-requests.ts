import { randomBytes } from 'node:crypto'
import { DEFAULT_CURRENCY, type Amount } from '../../orders/amount.js'
import {
  findDifferences,
  toAmount,
  type Difference,
  type FulfilmentAttempt,
  type Purchase,
} from '../../orders/attempt.js'
import type { Order } from '../../orders/order.js'
import type { OrderStore, ProviderOrderRef } from '../../orders/store/order-store.js'
import type { OffsetOrders, Portfolio } from '../offset-order.js'
import type { OffsetOrderSource, OrderSourceResult } from '../order-source-client.js'

/** A request to the provider that failed without effect. */
export type ProviderFailure =
  | { outcome: 'refused'; status: number; message: string }
  | { outcome: 'unreachable' }
  | { outcome: 'invalid_response' }

/** The price of an order with a portfolio, or why it cannot be confirmed. */
export type QuoteResult =
  | ProviderFailure
  | { outcome: 'quoted'; portfolio: Portfolio; price: Amount }
  | { outcome: 'portfolio_not_found' }
  /** The provider quoted something other than what was requested. */
  | {
      outcome: 'quote_mismatch'
      differences: Difference[]
      requested: Purchase
      quoted: Purchase
    }
  /** The response to a dry run has an order ID, so the provider may have placed the order. */
  | { outcome: 'unexpected_order'; id: string }

export type FulfilResult =
  | Exclude<QuoteResult, { outcome: 'quoted' }>
  /** Placed; the history shows whether it matches what was confirmed. */
  | { outcome: 'placed'; order: Order; id: string }
  /** Placed, but the order could not be updated. A later check with the provider finds it. */
  | { outcome: 'placed_not_recorded'; id: string }
  /** Sent; it is unknown whether it was placed. */
  | { outcome: 'unknown' }
  | { outcome: 'price_changed'; price: Amount }
  /** Another feature forbids to buy the credits, for a reason that was not confirmed */
  | { outcome: 'placement_problem'; problem: string }
  /** Already placed, being placed, or in a status in which it cannot be placed. */
  | { outcome: 'not_fulfillable'; order: Order }
  | { outcome: 'version_conflict'; order: Order }
  | { outcome: 'not_found' }

export type CheckResult =
  | ProviderFailure
  | { outcome: 'found'; order: Order }
  | { outcome: 'not_placed' }
  /** Not in the provider's list, which has further pages or lacks known orders. */
  | {
      outcome: 'incomplete_list'
      missing: Pick<ProviderOrderRef, 'orderNumber' | 'orderSourceId'>[]
    }
  /** There is no unresolved attempt. */
  | { outcome: 'resolved'; order: Order }
  | { outcome: 'not_found' }

export type ResetResult =
  | CheckResult
  | { outcome: 'reset'; order: Order }
  /** The request may still be on its way to the provider. */
  | { outcome: 'too_early' }

/** Whether the provider responded, but the response is not conclusive. */
export const isInconclusive = ({ outcome }: { outcome: string }): boolean =>
  outcome === 'incomplete_list' || outcome === 'invalid_response' || outcome === 'refused'

/** The value of a request without side effects, or why it failed. */
export const getValue = <T>(result: OrderSourceResult<T>): { value: T } | ProviderFailure => {
  if (result.outcome === 'ok') return result
  return result.outcome === 'unknown' ? { outcome: 'unreachable' } : result
}

const REFERENCE_BYTES = 8

export const createReference = (): string => randomBytes(REFERENCE_BYTES).toString('hex')

/** Tonnes of CO2e of an order. */
export const getTons = ({ co2eKg }: Pick<Order, 'co2eKg'>): number =>
  Number((co2eKg / 1000).toPrecision(15))

/** Requests the price of an order with a portfolio; nothing is ordered. */
export async function requestQuote(
  source: OffsetOrderSource,
  order: Order,
  portfolioId: number,
): Promise<QuoteResult> {
  const portfolios = getValue(await source.listPortfolios())
  if (!('value' in portfolios)) return portfolios
  const portfolio = portfolios.value.find(({ id }) => id === portfolioId)
  if (portfolio === undefined) return { outcome: 'portfolio_not_found' }
  const tons = getTons(order)
  const response = getValue(
    await source.placeOrder(
      { tons, portfolioId, note: order.orderNumber, dryRun: true },
      createReference(),
    ),
  )
  if (!('value' in response)) return response
  const { id, amount } = response.value
  if (id !== null) return { outcome: 'unexpected_order', id }
  const currency = portfolio.pricePerTon?.currency ?? amount.currency ?? DEFAULT_CURRENCY
  const price = toAmount(amount, currency)
  const quoted = { ...price, tons: response.value.tons }
  const requested = { amountMinor: price.amountMinor, currency, tons }
  const differences = findDifferences(requested, quoted)
  return differences.length > 0
    ? { outcome: 'quote_mismatch', differences, requested, quoted }
    : { outcome: 'quoted', portfolio, price }
}

/** Maximum number of orders to report as missing from a list. */
const MAX_MISSING = 4

type FindResult =
  | ProviderFailure
  | { outcome: 'placed'; attempt: FulfilmentAttempt }
  | Extract<CheckResult, { outcome: 'not_placed' | 'incomplete_list' }>

/**
 * Looks for attempts in the provider's list of orders. Only a complete list, which contains every
 * order known to be there, proves that an order was not placed.
 */
export function createProviderCheck(store: OrderStore, source: OffsetOrderSource) {
  /** Order numbers of placed orders that could not be recorded, by provider order ID */
  const unrecorded = new Map<string, string>()

  /** Returns known orders that a list lacks; `null` if the list is complete. */
  async function findMissing({ orders, isComplete }: OffsetOrders) {
    const ids = orders.map(({ id }) => id)
    // Forgets orders that an administrator, another process or a later check has recorded since.
    for (const id of unrecorded.keys()) {
      if ((await store.findByOrderSourceId(id)).length > 0) unrecorded.delete(id)
    }
    const missing = [
      ...[...unrecorded]
        .filter(([orderSourceId]) => !ids.includes(orderSourceId))
        .map(([orderSourceId, orderNumber]) => ({ orderNumber, orderSourceId })),
      ...(await store.findOtherProviderOrders(ids, MAX_MISSING)),
    ]
    return isComplete && missing.length === 0 ? null : missing
  }

  return {
    /** Remembers a placed order that could not be recorded. */
    addUnrecorded(orderSourceId: string, orderNumber: string): void {
      unrecorded.set(orderSourceId, orderNumber)
    },

    /** Looks for any of several attempts of an order. */
    async find(attempts: readonly FulfilmentAttempt[]): Promise<FindResult> {
      const response = getValue(await source.listOrders())
      if (!('value' in response)) return response
      const { orders } = response.value
      const isNoted = ({ reference }: FulfilmentAttempt) =>
        orders.find(({ note }) => note?.includes(reference))
      const attempt = attempts.find(isNoted)
      const found = attempt && isNoted(attempt)
      if (attempt === undefined || found === undefined) {
        const missing = await findMissing(response.value)
        return missing === null
          ? { outcome: 'not_placed' }
          : { outcome: 'incomplete_list', missing }
      }
      const charged = found.amount === null ? {} : toAmount(found.amount, attempt.currency)
      const placed: FulfilmentAttempt = {
        ...attempt,
        ...charged,
        ...(found.portfolioId === null || found.portfolioId === attempt.portfolioId
          ? {}
          : { portfolioId: found.portfolioId, portfolioName: `Portfolio ${found.portfolioId}` }),
        tons: found.tons,
        state: 'placed',
        orderSourceId: found.id,
      }
      return { outcome: 'placed', attempt: placed }
    },
  }
}
