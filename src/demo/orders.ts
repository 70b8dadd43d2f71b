import { calculateEstimate } from '../calculator/estimate.js'
import type { HistoryEntry } from '../order-store/sqlite/order-records.js'
import { cancelOrder, applyChanges, createFirstVersion } from '../orders/apply-changes.js'
import type { Order } from '../orders/order.js'
import { createRandom, type Random } from './random.js'
import { TRADES, type DemoCustomer } from './customers.js'
import { createLifecycle, SHOP } from './order-lifecycle.js'
import { createTimestamps } from './timestamps.js'
import { createDemoPrice } from './prices.js'
import { createDemoTrip } from './trips.js'
import { createImoNumber } from './vessels.js'

/** An order of the demonstration, and how it came to be as it is. */
export interface DemoOrder {
  order: Order
  /** Who entered it */
  by: string
  /** What happened since */
  history: HistoryEntry[]
}

interface Options {
  seed?: number
  howMany?: number
  /** How far back they go */
  days?: number
  now: Date
}

function demoCustomer(by: Random): DemoCustomer {
  let rest = by.share()
  const trade = TRADES.find(({ share }) => (rest -= share) < 0) ?? TRADES[0]
  const [first, ...others] = trade.customers
  if (first === undefined) throw new Error(`nobody is in the trade ${trade.trade}`)
  return by.of([first, ...others])
}

/** An order as the shop delivered it. */
function delivered(by: Random, number: number, placedAt: string): Order {
  const customer = demoCustomer(by)
  const calculation = createDemoTrip(by, customer)
  const co2eKg = Number(calculateEstimate(calculation).co2eKg.toFixed(1))
  const vesselName = by.of(customer.vessels)
  const given = {
    customerName: customer.name,
    customerEmail: customer.email,
    vesselName,
    imoNumber: createImoNumber(vesselName, customer.trade),
    calculatorType: calculation.calculatorType,
    calculatorData: { ...calculation.calculatorData },
    co2eKg,
    amountMinor: createDemoPrice(co2eKg, customer.currency),
    currency: customer.currency,
  }
  return {
    id: String(number),
    orderNumber: `CW-${String(number).padStart(6, '0')}`,
    ...createFirstVersion(given, placedAt),
  }
}

/** An order and what had happened to it by now. */
function lived(by: Random, first: Order, now: Date): DemoOrder {
  let order = first
  let time = Date.parse(first.placedAt)
  const history: HistoryEntry[] = []
  for (const event of createLifecycle(by)) {
    time += Math.round(event.after)
    if (time > now.getTime()) break
    const at = new Date(time).toISOString()
    const changed =
      event.change === 'cancel' ? cancelOrder(order, at) : applyChanges(order, event.change, at)
    if (changed.outcome !== 'changed') continue
    order = changed.order
    history.push({ at, by: event.by, version: order.version, changes: changed.changes })
  }
  return { order, by: SHOP, history }
}

/**
 * Orders such as a shop has after two years, up to now, oldest first: the same for the same seed
 * and moment. Each has become what it is by moves that the status table allows.
 */
export function* createDemoOrders({
  seed = 1,
  howMany = 4_000,
  days = 730,
  now,
}: Options): Generator<DemoOrder> {
  const by = createRandom(seed)
  for (const [i, moment] of createTimestamps(by, howMany, days, now).entries()) {
    yield lived(by, delivered(by, i + 1, moment.toISOString()), now)
  }
}
