import { calculateEstimate } from '../calculator/estimate.js'
import { GUEST } from '../checkout/place-order.js'
import { getMinorUnitDigits } from '../core/formatting/number-formatter.js'
import { DAY_MS, HOUR_MS } from '../core/time.js'
import { applyChanges, cancelOrder, createFirstVersion } from '../orders/change-order.js'
import type { Checkout } from '../orders/order-checkout.js'
import {
  formatOrderNumber,
  type HistoryEntry,
  type Order,
  type OrderChanges,
  type Retirement,
} from '../orders/order.js'
import {
  createDemoTrip,
  createRandom,
  TRADES,
  type DemoCustomer,
  type Random,
  type Trade,
} from './trips.js'

/** The shop creates orders and records payments; administrators do the rest. */
const SHOP = 'shop@example.com'
const ADMINISTRATORS = [
  'mara@example.com',
  'jonas@example.com',
  'aiko@example.com',
] as const satisfies [string, ...string[]]

interface LifecycleEvent {
  /** Time since the previous event, ms */
  delay: number
  by: string
  change: OrderChanges | 'cancel'
}

const NOTES = [
  'Paid by bank transfer.',
  'Customer requested an invoice to the company address.\nSent the same day.',
  'Regular customer: discount agreed by phone.',
  'Certificate sent by email.',
  'Called twice without success. Sent an email.',
  'Certificate to be issued in the name of the vessel.',
] as const

/** Generates the events of an order after its creation, in chronological order. */
function createLifecycle(random: Random): LifecycleEvent[] {
  const events: LifecycleEvent[] = []
  const administrator = (): string => random.pick(ADMINISTRATORS)
  const add = (delay: number, by: string, change: LifecycleEvent['change']): void =>
    void events.push({ delay, by, change })

  if (random.chance(0.05)) {
    if (random.chance(0.4))
      add(random.between(3, 8) * DAY_MS, administrator(), { notes: random.pick(NOTES) })
    add(random.between(6, 14) * DAY_MS, administrator(), 'cancel')
    if (random.chance(0.93)) return events
    add(random.between(1, 3) * DAY_MS, administrator(), { status: 'pending' })
  }
  add(random.between(0, 1) ** 3 * 3 * DAY_MS + 60_000, SHOP, { status: 'paid' })
  if (random.chance(0.02)) {
    add(random.between(4, 60) * HOUR_MS, administrator(), { status: 'refunded' })
    return events
  }
  if (random.chance(0.08))
    add(random.between(1, 20) * HOUR_MS, administrator(), { notes: random.pick(NOTES) })
  const [placedAfter, placedBy] = [random.between(2, 60) * HOUR_MS, administrator()]
  const orderSourceId = `off_${Math.floor(random.fraction() * 36 ** 8)
    .toString(36)
    .padStart(8, '0')}`
  add(placedAfter, placedBy, { status: 'processing', orderSourceId })
  add(random.between(1, 9) * DAY_MS, administrator(), { status: 'fulfilled' })
  if (random.chance(0.05))
    add(random.between(1, 5) * DAY_MS, administrator(), { notes: random.pick(NOTES) })
  if (random.chance(0.015))
    add(random.between(2, 25) * DAY_MS, administrator(), { status: 'refunded' })
  return events
}

/** Relative demand by weekday, from Sunday; highest when charter weeks start or end. */
const WEEKDAYS = [0.75, 1.05, 0.95, 0.95, 1.05, 1.3, 1.25]

/** Relative demand on a day: growing over the period (`progress` 0 to 1), highest in July. */
function getDemand(day: Date, progress: number): number {
  const month = day.getUTCMonth() + day.getUTCDate() / 31
  const season = 1 + 0.65 * Math.cos(((month - 6.7) / 12) * 2 * Math.PI)
  return (0.7 + 0.6 * progress) * season * (WEEKDAYS[day.getUTCDay()] ?? 1)
}

/**
 * Generates order timestamps in the days up to now, in chronological order; deterministic for a
 * random generator and `now`.
 */
function createTimestamps(random: Random, count: number, days: number, now: Date): Date[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const dayStarts = Array.from({ length: days }, (_, i) => today - (days - 1 - i) * DAY_MS)
  let total = 0
  const cumulative = dayStarts.map((start, i) => (total += getDemand(new Date(start), i / days)))
  const timestamps = Array.from({ length: count }, () => {
    const target = random.fraction() * total
    const start = dayStarts[cumulative.findIndex((sum) => sum > target)] ?? today
    const time = start + random.between(5, 23) * HOUR_MS
    // Move future timestamps to the previous day.
    return new Date(time > now.getTime() ? time - DAY_MS : time)
  })
  return timestamps.sort((a, b) => a.getTime() - b.getTime())
}

/** Price of a tonne of CO₂e, in major units. */
export const PRICES_PER_TONNE = {
  EUR: 25,
  USD: 27,
  GBP: 21.5,
  NOK: 290,
  SEK: 285,
  CHF: 24,
  AUD: 41,
  JPY: 4_200,
} as const

const isPriced = (currency: string): currency is keyof typeof PRICES_PER_TONNE =>
  Object.hasOwn(PRICES_PER_TONNE, currency)

/** Price of an offset in minor units of the currency, rounded up. */
function createDemoPrice(co2eKg: number, currency: string): number {
  if (!isPriced(currency)) throw new Error(`no price in ${currency}`)
  const minor = (co2eKg / 1_000) * PRICES_PER_TONNE[currency] * 10 ** getMinorUnitDigits(currency)
  return Math.ceil(Number(minor.toFixed(6)))
}

/** Share of each trade's vessels that have an IMO number (those above 100 gross tonnage). */
const IMO_NUMBER_SHARES: Record<Trade, number> = { yacht: 0.1, charter: 0.4, ferry: 1 }

/** Appends the check digit to six digits (IMO resolution A.1117(30)). */
function addCheckDigit(six: number): string {
  const digits = Array.from(String(six), Number)
  const sum = digits.reduce((total, digit, i) => total + digit * (7 - i), 0)
  return `${six}${sum % 10}`
}

/** Hashes a name (FNV-1a). */
function hashName(name: string): number {
  let hash = 0x811c9dc5
  for (const character of name) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return hash >>> 0
}

/** The IMO number of a vessel, the same in each of its orders; `null` if it has none. */
function createImoNumber(vesselName: string, trade: Trade): string | null {
  const random = createRandom(hashName(vesselName))
  return random.chance(IMO_NUMBER_SHARES[trade])
    ? addCheckDigit(900_000 + Math.floor(random.fraction() * 89_999))
    : null
}

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
