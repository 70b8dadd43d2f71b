import { estimate } from '../../calculator/estimate.js'
import type { HistoryEntry } from '../book/order-records.js'
import { cancelledOrder, changedOrder, firstVersion } from '../order-changes.js'
import type { Order } from '../order.js'
import { chance, type Chance } from './chance.js'
import { TRADES, type DemoCustomer } from './demo-customers.js'
import { demoLife, SHOP } from './demo-life.js'
import { demoMoments } from './demo-moments.js'
import { demoPrice } from './demo-price.js'
import { demoTrip } from './demo-trip.js'
import { imoNumberFor } from './demo-vessel.js'

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

function demoCustomer(by: Chance): DemoCustomer {
  let rest = by.share()
  const trade = TRADES.find(({ share }) => (rest -= share) < 0) ?? TRADES[0]
  const [first, ...others] = trade.customers
  if (first === undefined) throw new Error(`nobody is in the trade ${trade.trade}`)
  return by.of([first, ...others])
}

/** An order as the shop delivered it. */
function delivered(by: Chance, number: number, placedAt: string): Order {
  const customer = demoCustomer(by)
  const calculation = demoTrip(by, customer)
  const co2eKg = Number(estimate(calculation).co2eKg.toFixed(1))
  const vesselName = by.of(customer.vessels)
  const given = {
    customerName: customer.name,
    customerEmail: customer.email,
    vesselName,
    imoNumber: imoNumberFor(vesselName, customer.trade),
    calculatorType: calculation.calculatorType,
    calculatorData: { ...calculation.calculatorData },
    co2eKg,
    amountMinor: demoPrice(co2eKg, customer.currency),
    currency: customer.currency,
  }
  return {
    id: String(number),
    orderNumber: `CW-${String(number).padStart(6, '0')}`,
    ...firstVersion(given, placedAt),
  }
}

/** An order and what had happened to it by now. */
function lived(by: Chance, first: Order, now: Date): DemoOrder {
  let order = first
  let time = Date.parse(first.placedAt)
  const history: HistoryEntry[] = []
  for (const event of demoLife(by)) {
    time += Math.round(event.after)
    if (time > now.getTime()) break
    const at = new Date(time).toISOString()
    const changed =
      event.change === 'cancel' ? cancelledOrder(order, at) : changedOrder(order, event.change, at)
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
export function* demoOrders({
  seed = 1,
  howMany = 4_000,
  days = 730,
  now,
}: Options): Generator<DemoOrder> {
  const by = chance(seed)
  for (const [i, moment] of demoMoments(by, howMany, days, now).entries()) {
    yield lived(by, delivered(by, i + 1, moment.toISOString()), now)
  }
}
