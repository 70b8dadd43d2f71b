import type { LedgerEntry } from '../provider/fake-provider/ledger.js'
import { calculatePrice } from '../provider/price.js'
import { PORTFOLIOS } from '../provider/fake-provider/portfolios.js'
import type { OrderDatabase } from '../order-store/sqlite/sqlite-order-store.js'
import type { Order } from '../orders/order.js'
import { isOpen, findLatestAttempt, type FulfilmentAttempt } from '../fulfilment/attempt.js'
import { getTons } from '../fulfilment/fulfilment.js'

/** More than a demonstration has. */
const MOST_ORDERS = 10_000
const HALF_AN_HOUR_MS = 30 * 60 * 1000
const [HARBOUR_MIX, BLUE_CARBON] = PORTFOLIOS

async function latest(book: OrderDatabase, status: Order['status'][] = []): Promise<Order[]> {
  const { items } = await book.list(
    { status },
    { sort: '-placedAt', offset: 0, limit: MOST_ORDERS },
  )
  return items
}

/** An attempt whose answer did not come. */
function attemptAt(
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

/** Leaves two orders of which nobody knows whether they were placed: one was, the other was not. */
export async function addFulfilmentAttempts(book: OrderDatabase, now = new Date()): Promise<void> {
  const orders = await latest(book, ['processing'])
  const sentAt = new Date(now.getTime() - HALF_AN_HOUR_MS)
  for (const [index, portfolio] of [HARBOUR_MIX, BLUE_CARBON].entries()) {
    const order = orders[index]
    if (order === undefined || portfolio === undefined) return
    const attempt = attemptAt(order, portfolio, sentAt)
    const context = { by: attempt.by, ifVersions: null }
    await book.notePlacement(order.id, attempt, context)
    await book.notePlacement(order.id, { ...attempt, state: 'unanswered' }, context)
  }
}

function entryOf(order: Order, id: string, attempt: FulfilmentAttempt | null): LedgerEntry {
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

/** What the order source of a demonstration has of its orders, oldest first. */
export interface ProviderOrders {
  entries: LedgerEntry[]
  /** Of which it has something else */
  differing: Order | undefined
  /** Of which it has nothing, though there is an id */
  missing: Order | undefined
  /** Of which nobody here knows whether it has them: those that it has, and those that it has not */
  unknown: { arrived: Order[]; lost: Order[] }
}

/** Makes an order source's side of the orders in a book: it has them all, save for some. */
export async function createProviderOrders(book: OrderDatabase): Promise<ProviderOrders> {
  const orders = await latest(book)
  const [differing, missing] = orders.filter(({ orderSourceId }) =>
    orderSourceId?.startsWith('off_'),
  )
  const entries: LedgerEntry[] = []
  const unknown: ProviderOrders['unknown'] = { arrived: [], lost: [] }
  for (const order of orders) {
    const placement = findLatestAttempt(book.history(order.id) ?? [])
    const placed = placement?.state === 'placed' ? placement : null
    if (isOpen(order, placement)) {
      const arrived = placement.portfolioId === HARBOUR_MIX?.id
      unknown[arrived ? 'arrived' : 'lost'].push(order)
      if (arrived) entries.push(entryOf(order, `off_${placement.reference}`, placement))
    } else if (order.orderSourceId !== null && order !== missing) {
      const entry = entryOf(order, order.orderSourceId, placed)
      const tons = order === differing ? Number((entry.tons * 0.9).toFixed(3)) : entry.tons
      entries.push({ ...entry, tons })
    }
  }
  return { entries: entries.reverse(), differing, missing, unknown }
}
