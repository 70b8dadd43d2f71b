import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.js'
import type { Queryable } from '../../database/database.js'
import {
  describeTerms,
  findAcceptedTerms,
  findTermsDifferences,
  wasEnded,
} from '../../orders/accepted-terms.js'
import {
  canBeFulfilled,
  findConfirmedAttempt,
  findDifferences,
  findLatestAttempt,
  isPlaced,
  isUnresolved,
  listRefusedAttempts,
  type FulfilmentAttempt,
} from '../../orders/attempt.js'
import { isErased } from '../../orders/erase-order.js'
import type { EventConsumer } from '../../orders/order-events/event-dispatcher.js'
import { isPaid, type OrderStatus } from '../../orders/order-status.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import { findSharedProviderOrders, type OrderStore } from '../../orders/store/order-store.js'
import { enqueueMessage, eraseMessages, getMessageId, type Message } from '../../outbox/messages.js'
import type { Sender, SendResult } from '../../outbox/outbox.js'
import type { Fulfilment } from './fulfil-orders.js'
import type { FulfilResult } from './provider-requests.js'

/** Stored as the user who places orders automatically. */
export const AUTO_FULFILMENT = 'auto-fulfilment'

/** The queue of orders to place. */
export const FULFILMENT_QUEUE = 'fulfilment'

/** About three days, because a provider may be unavailable for a weekend. */
const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
]

/** Maximum number of orders placed concurrently. */
const CONCURRENCY = 2
/** Searching, quoting, placing and recording take at most this many requests to the provider. */
const MAX_REQUESTS = 9

const done = (detail: string): SendResult => ({ outcome: 'sent', status: null, detail })
const retry = (detail: string, status: number | null = null): SendResult => ({
  outcome: 'retry',
  status,
  detail,
})
const reject = (detail: string, status: number | null = null): SendResult => ({
  outcome: 'rejected',
  status,
  detail,
})

/** Statuses of refusals that may be temporary, such as 402 for insufficient credit. */
const TEMPORARY_STATUSES = [401, 402, 403, 408, 409, 425, 429]

function describeResult(result: Exclude<FulfilResult, { outcome: 'placed' }>): SendResult {
  switch (result.outcome) {
    case 'refused': {
      const { status, message } = result
      const detail = `The provider refused the order: ${message || 'it gave no reason'}`
      return TEMPORARY_STATUSES.includes(status) ? retry(detail, status) : reject(detail, status)
    }
    case 'unreachable':
      return retry('The provider cannot be reached.')
    case 'invalid_response':
      return retry('The provider sent an invalid response.')
    case 'portfolio_not_found':
      return reject('The provider no longer offers the portfolio that the guest chose.')
    case 'quote_mismatch':
      return reject('The provider’s quote does not match the request.')
    case 'unexpected_order':
      return reject(
        `The provider may have placed the order, as ${result.id}. Contact the provider.`,
      )
    case 'placement_problem':
      return reject(`The credits are not bought, because ${result.problem}.`)
    case 'unknown':
    case 'placed_not_recorded':
      return retry('The placement status is unknown.')
    case 'price_changed':
    case 'version_conflict':
    case 'not_fulfillable':
      return retry('The order or its price changed in the meantime.')
    case 'not_found':
      return reject('The order does not exist.')
  }
}

/** Erases what the provider said about the automatic placement of an order. */
export const erasePlacements = (tx: Queryable, orderId: string): Promise<void> =>
  eraseMessages(
    tx,
    { orderId, queuePrefix: FULFILMENT_QUEUE, isCancelled: false },
    // Changed, so that a response that is on its way is not stored either.
    (payload) => ({ ...Object(payload), isErased: true }),
  )

/** Whether a change of its status makes the service place an order: a guest's order is first paid. */
export const isPlacedWhenPaid = (order: Order, previousStatus: OrderStatus | null): boolean =>
  order.origin === 'guest' && previousStatus === 'pending' && order.status === 'paid'

/**
 * Places paid guest orders with the provider, and marks them as fulfilled. Processing a message
 * again is safe, because an order that has been, or may have been, placed is never sent again.
 *
 * @param maxRequestMs maximum duration of a request to the provider
 */
export function createAutoFulfilment(
  store: OrderStore,
  fulfilment: Fulfilment,
  maxRequestMs: number,
) {
  /** Marks an order as fulfilled if it was placed automatically and matches what was confirmed. */
  async function complete(order: Order): Promise<SendResult> {
    if (order.status === 'fulfilled') return done('Placed')
    if (!isPaid(order.status)) return done(`Placed, but the order is ${order.status}.`)
    const history = (await store.getHistory(order.id)) ?? []
    const attempt = findLatestAttempt(history)
    const confirmed = attempt && findConfirmedAttempt(history, attempt.reference)
    if (attempt?.by !== AUTO_FULFILMENT || confirmed === null) {
      return done('Placed by an administrator')
    }
    if (!isPlaced(order, attempt)) return done('An administrator entered the ID at the provider.')
    if (findDifferences(confirmed, attempt).length > 0) {
      return done(
        'Placed, but it differs from what was confirmed. An administrator needs to check it.',
      )
    }
    const accepted = findAcceptedTerms(order, history)
    if (accepted !== null && findTermsDifferences(order, accepted).length > 0) {
      return done(
        'Placed, but the order was changed meanwhile. An administrator needs to check it.',
      )
    }
    if ((await findSharedProviderOrders(store, order)).length > 0) {
      return done(
        'Placed, but another order has the same ID at the provider. An administrator needs to check it.',
      )
    }
    const problem = await fulfilment.findProblem(order)
    if (problem !== null) return done(`Placed, but not marked as fulfilled, because ${problem}.`)
    const command = { type: 'edit', changes: { status: 'fulfilled' } } as const
    const context = { by: AUTO_FULFILMENT, ifVersions: [order.version] }
    const { outcome } = await store.apply(order.id, command, context)
    return outcome === 'version_conflict'
      ? retry('The order changed in the meantime.')
      : done('Placed')
  }

  /**
   * Checks with the provider whether an unresolved attempt was placed. Never sends the order again.
   */
  async function resolve(order: Order, attempt: FulfilmentAttempt): Promise<SendResult> {
    const retryAfterMs = fulfilment.getRemainingMs(attempt)
    if (attempt.state === 'placed') return done('Placed, but the provider order ID is missing.')
    const result = await fulfilment.check(order.id, AUTO_FULFILMENT)
    if (result.outcome === 'found' || result.outcome === 'resolved') return complete(result.order)
    return {
      ...retry('The placement status is unknown. Check with the provider.'),
      retryAfterMs,
    }
  }

  /** Places an order if it is exactly what the guest accepted and paid for. */
  async function place(order: Order, history: readonly HistoryEntry[]): Promise<SendResult> {
    if (wasEnded(history)) {
      return reject('The order was cancelled or refunded before. An administrator can place it.')
    }
    const attempt = findLatestAttempt(history)
    if (attempt?.state === 'released') {
      return reject('Another attempt was allowed. An administrator can place the order.')
    }
    if (attempt?.state === 'refused') {
      const found = await fulfilment.findPlaced(order, listRefusedAttempts(history))
      if (found.outcome === 'found') return complete(found.order)
      // A gateway may have refused the response, and not the order.
      if (found.outcome !== 'not_placed') {
        return retry(
          'The provider refused the order before. Its list does not show whether it was placed.',
        )
      }
    }
    const accepted = findAcceptedTerms(order, history)
    if (accepted === null) {
      return reject('What the guest accepted is not recorded. Check the order.')
    }
    const differences = findTermsDifferences(order, accepted)
    if (differences.length > 0) {
      return reject(
        `The order differs from what the guest accepted: ${differences.join(', ')}. Accepted: ${describeTerms(accepted)}. Now: ${describeTerms(order)}.`,
      )
    }
    const { portfolioId } = accepted
    if (portfolioId === null) return reject('The guest did not choose a provider portfolio.')
    const quote = await fulfilment.getQuote(order, portfolioId)
    if (quote.outcome !== 'quoted') return describeResult(quote)
    const { price, portfolio } = quote
    if (portfolio.name !== order.checkout?.portfolioName) {
      return reject(
        `The guest chose “${order.checkout?.portfolioName ?? ''}”, but the provider now calls the portfolio “${portfolio.name}”.`,
      )
    }
    // There is no exchange rate that would limit the price.
    if (price.currency !== order.currency) {
      return reject(
        `The provider’s price is in ${price.currency}, but the guest paid in ${order.currency}.`,
      )
    }
    if (price.amountMinor > order.amountMinor) {
      return reject('The provider’s price is higher than what the guest paid.')
    }
    const { version } = order
    const result = await fulfilment.fulfil(order.id, {
      version,
      problem: null,
      portfolioId,
      price,
      by: AUTO_FULFILMENT,
    })
    return result.outcome === 'placed' ? complete(result.order) : describeResult(result)
  }

  async function send(message: Message): Promise<SendResult> {
    const { orderId } = message
    const order = orderId === null ? null : await store.get(orderId)
    if (order === null) return reject('The order does not exist.')
    const history = (await store.getHistory(order.id)) ?? []
    const attempt = findLatestAttempt(history)
    if (isUnresolved(order, attempt)) return resolve(order, attempt)
    if (order.orderSourceId !== null) return complete(order)
    // Only a person marks an order as processing before it is placed.
    if (order.status !== 'paid') return reject(`The order is ${order.status}.`)
    return canBeFulfilled(order, attempt)
      ? place(order, history)
      : reject('There are no credits to buy.')
  }

  return {
    /** Queues a guest order when it is first paid. Erases what the provider said about an erased order. */
    consume: (async (tx, event) => {
      const { order } = event
      if (isErased(order)) await erasePlacements(tx, order.id)
      // It was cancelled during its purchase.
      const isRestored = event.previousStatus === 'cancelled' && order.status === 'paid'
      const isPlaced = isRestored && order.orderSourceId !== null && order.origin === 'guest'
      if (!isPlaced && !isPlacedWhenPaid(order, event.previousStatus)) return
      await enqueueMessage(tx, {
        id: getMessageId('fulfil', 'fulfil', order.id, order.version, order.updatedAt),
        queue: FULFILMENT_QUEUE,
        sequence: `fulfil:${order.id}`,
        type: 'order.paid',
        orderId: order.id,
        payload: {},
      })
    }) satisfies EventConsumer,

    sender: {
      queuePrefix: FULFILMENT_QUEUE,
      concurrency: CONCURRENCY,
      leaseMs: MAX_REQUESTS * maxRequestMs + 10 * SECOND_MS,
      retryDelaysMs: RETRY_DELAYS_MS,
      send,
    } satisfies Sender,
  }
}
