import type { OrderStore } from '../../orders/store/order-store.js'
import type { OffsetOrderSource } from '../order-source-client.js'
import type { OffsetOrders } from '../offset-order.js'
import type { FulfilmentAttempt } from '../../orders/attempt.js'
import { getValue, type CheckResult, type ProviderFailure } from './results.js'
import { toAmount } from '../../orders/verify-response.js'

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
