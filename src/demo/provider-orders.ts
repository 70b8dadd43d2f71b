import { calculatePrice } from '../orders/amount.js'
import { findLatestAttempt, isUnresolved, type FulfilmentAttempt } from '../orders/attempt.js'
import type { Order } from '../orders/order.js'
import type { OrderStore } from '../orders/store/order-store.js'
import { getTons } from '../provider/fulfilment/provider-requests.js'
import type { LedgerEntry } from './fake-provider/fake-provider.js'
import { PORTFOLIOS } from './fake-provider/portfolios.js'

const MAX_ORDERS = 10_000
/** How the provider order IDs of the sample data start; those of the fake provider are numbers. */
const SEEDED = 'off_'
const HALF_AN_HOUR_MS = 30 * 60 * 1000
const [HARBOUR_MIX, BLUE_CARBON] = PORTFOLIOS

async function findLatest(store: OrderStore, status: Order['status'][] = []): Promise<Order[]> {
  const { items } = await store.list(
    { status },
    { sort: '-placedAt', offset: 0, limit: MAX_ORDERS },
  )
  return items
}

function createAttempt(
  order: Order,
  portfolio: (typeof PORTFOLIOS)[number],
  sentAt: Date,
): FulfilmentAttempt {
  const { id, name, pricePerTonMinor: amountMinor, currency } = portfolio
  const tons = getTons(order)
  return {
    state: 'sent',
    reference: `demo${order.id.padStart(12, '0')}`,
    by: 'mara@example.com',
    sentAt: sentAt.toISOString(),
    portfolioId: id,
    portfolioName: name,
    tons,
    ...calculatePrice(tons, { amountMinor, currency }),
  }
}

/**
 * Adds fulfilment attempts to paid orders: two that received no response, one of which the provider
 * placed, and one that the provider placed for less CO2e than was ordered.
 */
export async function addAttempts(store: OrderStore, now = new Date()): Promise<void> {
  const orders = await findLatest(store, ['paid'])
  const sentAt = new Date(now.getTime() - HALF_AN_HOUR_MS)
  const add = async (
    order: Order | undefined,
    portfolio: (typeof PORTFOLIOS)[number] | undefined,
    complete: (sent: FulfilmentAttempt) => FulfilmentAttempt,
  ) => {
    if (order === undefined || portfolio === undefined) return
    const sent = createAttempt(order, portfolio, sentAt)
    for (const attempt of [sent, complete(sent)]) {
      await store.apply(order.id, { type: 'attempt', attempt }, { by: sent.by, ifVersions: null })
    }
  }
  await add(orders[0], HARBOUR_MIX, (sent) => ({ ...sent, state: 'unanswered' }))
  await add(orders[1], BLUE_CARBON, (sent) => ({ ...sent, state: 'unanswered' }))
  await add(orders[2], HARBOUR_MIX, (sent) => ({
    ...sent,
    state: 'placed',
    orderSourceId: `off_${sent.reference}`,
    tons: Number((sent.tons * 0.9).toFixed(3)),
  }))
}

function createEntry(order: Order, id: string, attempt: FulfilmentAttempt | null): LedgerEntry {
  const { amountMinor, currency } = attempt ?? order
  return {
    id,
    createdAt: attempt?.sentAt ?? order.fulfilledAt ?? order.updatedAt,
    tons: attempt?.tons ?? getTons(order),
    portfolioId: attempt?.portfolioId ?? HARBOUR_MIX?.id ?? 1,
    amountCharged: amountMinor,
    currency,
    note: attempt === null ? order.orderNumber : `${order.orderNumber} ${attempt.reference}`,
    source: 'API',
  }
}

/** The fake provider's records of the demo orders. */
interface ProviderOrders {
  /** Oldest first */
  entries: LedgerEntry[]
  /** Placed for less CO2e than was ordered */
  differing: Order | undefined
  /** Has a provider order ID that does not exist at the provider */
  missing: Order | undefined
  /** Attempts without a response */
  uncertain: { placed: Order[]; notPlaced: Order[] }
}

/** Generates the provider's records of the orders in a store, with a few discrepancies. */
export async function createProviderOrders(store: OrderStore): Promise<ProviderOrders> {
  const orders = await findLatest(store)
  const missing = orders.find(
    ({ status, orderSourceId }) => status === 'fulfilled' && orderSourceId?.startsWith(SEEDED),
  )
  let differing: Order | undefined
  const entries: LedgerEntry[] = []
  const uncertain: ProviderOrders['uncertain'] = { placed: [], notPlaced: [] }
  for (const order of orders) {
    const attempt = findLatestAttempt((await store.getHistory(order.id)) ?? [])
    const placed = attempt?.state === 'placed' ? attempt : null
    if (isUnresolved(order, attempt)) {
      const isPlaced = attempt.portfolioId === HARBOUR_MIX?.id
      uncertain[isPlaced ? 'placed' : 'notPlaced'].push(order)
      if (isPlaced) entries.push(createEntry(order, `off_${attempt.reference}`, attempt))
    } else if (order.orderSourceId !== null && order !== missing) {
      if (placed !== null) differing ??= order
      entries.push(createEntry(order, order.orderSourceId, placed))
    }
  }
  return { entries: entries.reverse(), differing, missing, uncertain }
}
