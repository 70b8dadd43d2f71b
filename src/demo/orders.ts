import { calculateEstimate } from '../calculator/estimate.js'
import { cancelOrder, applyChanges, createFirstVersion } from '../orders/apply-changes.js'
import { formatOrderNumber } from '../orders/order-number.js'
import type { Order, HistoryEntry, OrderChanges, Retirement } from '../orders/order.js'
import type { Checkout } from '../orders/checkout.js'
import { GUEST } from '../checkout/place-order.js'
import { createRandom, type Random } from './random.js'
import { TRADES, type DemoCustomer } from './customers.js'
import { createLifecycle, SHOP } from './order-lifecycle.js'
import { createTimestamps } from './timestamps.js'
import { createDemoPrice } from './prices.js'
import { createDemoTrip } from './trips.js'
import { createImoNumber } from './vessels.js'

export interface DemoOrder {
  order: Order
  /** The user who created it */
  by: string
  history: HistoryEntry[]
}

interface Options {
  seed?: number
  count?: number
  /** Period that the orders are spread over */
  days?: number
  now: Date
}

function pickCustomer(random: Random): DemoCustomer {
  let remaining = random.fraction()
  const trade = TRADES.find(({ share }) => (remaining -= share) < 0) ?? TRADES[0]
  const [first, ...others] = trade.customers
  if (first === undefined) throw new Error(`trade ${trade.trade} has no customers`)
  return random.pick([first, ...others])
}

/** Every third order is placed by a guest, who pays by invoice. */
const GUEST_INTERVAL = 3

/** What a guest chose when ordering. */
const createCheckout = (
  name: string,
  { co2eKg, amountMinor }: Pick<Order, 'co2eKg' | 'amountMinor'>,
): Checkout => ({
  beneficiary: name,
  isPublic: false,
  company: null,
  vatId: null,
  portfolioId: null,
  portfolioName: null,
  sharePercent: 100,
  pricePerTonneMinor: Math.round((amountMinor * 1000) / co2eKg),
  offsetMinor: amountMinor,
  serviceFeeMinor: 0,
  paymentMethod: 'invoice',
})

/** Creates an order as the shop or the order form does. */
function createOrder(random: Random, number: number, placedAt: string): Order {
  const customer = pickCustomer(random)
  const calculation = createDemoTrip(random, customer)
  const co2eKg = Number(calculateEstimate(calculation).co2eKg.toFixed(1))
  const vesselName = random.pick(customer.vessels)
  const amountMinor = createDemoPrice(co2eKg, customer.currency)
  const isGuest = number % GUEST_INTERVAL === 0
  const newOrder = {
    customerName: customer.name,
    customerEmail: customer.email,
    vesselName,
    imoNumber: createImoNumber(vesselName, customer.trade),
    calculatorType: calculation.calculatorType,
    calculatorData: { ...calculation.calculatorData },
    co2eKg,
    amountMinor,
    currency: customer.currency,
    ...(isGuest && {
      origin: 'guest' as const,
      checkout: createCheckout(customer.name, { co2eKg, amountMinor }),
    }),
  }
  return {
    id: String(number),
    orderNumber: formatOrderNumber(number),
    ...createFirstVersion(newOrder, placedAt),
  }
}

/** Evidence that staff enter with the fulfilment. They forgot it for every 400th guest order. */
const FORGOTTEN_INTERVAL = 400 * GUEST_INTERVAL

function createRetirement({ id }: Order, at: string): Retirement | null {
  const number = Number(id)
  if (number % FORGOTTEN_INTERVAL === 0) return null
  return {
    registry: 'Example Registry',
    reference: `EX-${String(number).padStart(6, '0')}`,
    standard: 'Example Carbon Standard',
    vintage: at.slice(0, 4),
    retiredAt: at.slice(0, 10),
  }
}

/** The change of a lifecycle event, with the evidence for the certificate of a guest order. */
const complete = (order: Order, changes: OrderChanges, at: string): OrderChanges =>
  order.origin === 'guest' && changes.status === 'fulfilled'
    ? { ...changes, retirement: createRetirement(order, at) }
    : changes

/** Applies the lifecycle events up to `now`. */
function applyLifecycle(random: Random, first: Order, now: Date): DemoOrder {
  let order = first
  let time = Date.parse(first.placedAt)
  const history: HistoryEntry[] = []
  for (const event of createLifecycle(random)) {
    time += Math.round(event.delay)
    if (time > now.getTime()) break
    const at = new Date(time).toISOString()
    const changed =
      event.change === 'cancel'
        ? cancelOrder(order, at)
        : applyChanges(order, complete(order, event.change, at), at)
    if (changed.outcome !== 'changed') continue
    order = changed.order
    history.push({ at, by: event.by, version: order.version, changes: changed.changes })
  }
  return { order, by: first.origin === 'guest' ? GUEST : SHOP, history }
}

/**
 * Generates the orders of a shop over two years, oldest first; deterministic for a seed and `now`.
 * Every status change is a valid transition.
 */
export function* createDemoOrders({
  seed = 1,
  count = 4_000,
  days = 730,
  now,
}: Options): Generator<DemoOrder> {
  const random = createRandom(seed)
  for (const [i, placedAt] of createTimestamps(random, count, days, now).entries()) {
    yield applyLifecycle(random, createOrder(random, i + 1, placedAt.toISOString()), now)
  }
}
