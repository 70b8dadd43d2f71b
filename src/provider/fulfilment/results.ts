import type { ProviderOrderRef } from '../../orders/store/order-store.js'
import type { Order } from '../../orders/order.js'
import type { OrderSourceResult } from '../order-source-client.js'
import type { Amount } from '../../orders/amount.js'
import type { Portfolio } from '../offset-order.js'
import type { Difference, Purchase } from '../../orders/verify-response.js'

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
