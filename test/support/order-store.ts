import fc from 'fast-check'
import { CALCULATOR_TYPES } from '../../src/calculator/calculator-data.js'
import { createDayCalendar } from '../../src/core/formatting/day-calendar.js'
import type { Database } from '../../src/database/database.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { hasBeenPaid, ORDER_STATUSES } from '../../src/orders/order-status.js'
import type { NewOrder, Order } from '../../src/orders/order.js'
import { DIALECTS } from '../../src/orders/store/dialect.js'
import { addMany } from '../../src/orders/store/order-records.js'
import { setTimeZone } from '../../src/orders/store/store-settings.js'
import { addTotals, TotalsSum } from '../../src/orders/store/totals.js'

/** Evidence that credits were retired. */
export const RETIREMENT = {
  registry: 'Verra',
  reference: 'VCS-1-2-3',
  url: 'https://registry.verra.org/1',
  standard: 'Verified Carbon Standard',
  vintage: '2021',
  retiredAt: '2026-01-31',
}

/** A new order with the given fields. */
export const newOrder = (given: Partial<NewOrder> = {}): NewOrder => ({
  customerName: 'Ann Example',
  customerEmail: 'ann@example.com',
  co2eKg: 1603.6,
  amountMinor: 4009,
  currency: 'EUR',
  ...given,
})

/** Adds orders unchanged to a database. */
export async function addOrders(
  database: Database,
  timeZone: string,
  orders: Iterable<Order>,
): Promise<void> {
  await setTimeZone(database, timeZone)
  const records = [...orders].map((order) => ({ order, by: 'test@example.com', history: [] }))
  await database.write(async (tx) => {
    const totals = new TotalsSum(createDayCalendar(timeZone))
    for (let start = 0; start < records.length; start += 1_000) {
      const part = records.slice(start, start + 1_000)
      await addMany(tx, DIALECTS[database.engine], part, totals)
    }
    await addTotals(tx, totals)
  })
}

/** Adds orders unchanged to a file with a time zone. */
export async function fillStore(
  path: string,
  timeZone: string,
  orders: Iterable<Order>,
): Promise<void> {
  const database = openSqliteDatabase(path)
  await addOrders(database, timeZone, orders)
  await database.close()
}

/** Time zones with and without summer time, with half hours, and with missing midnights or days. */
export const TIME_ZONES = [
  'UTC',
  'Europe/Lisbon',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'Pacific/Apia',
]

/** Times close to clock changes in these time zones. */
const CLOCK_CHANGES = [
  '2026-03-29T01:00:00Z',
  '2026-10-25T01:00:00Z',
  '2026-03-08T07:00:00Z',
  '2026-11-01T06:00:00Z',
  '2018-11-04T03:00:00Z',
  '2018-02-18T02:00:00Z',
  '2024-03-30T22:00:00Z',
  '2011-12-30T10:00:00Z',
  '2026-04-04T15:00:00Z',
  '2025-12-31T23:59:59Z',
  '2024-02-29T12:00:00Z',
].map((text) => Date.parse(text))

const HOUR = 60 * 60 * 1000

/** Words with common parts, in several scripts and cases, and search operators. */
const words = fc.constantFrom(
  'Ann',
  'ANN',
  'anna',
  'Émile',
  'émilie',
  'ΟΔΥΣΣΕΥΣ',
  'Οδυσσεύς',
  'Straße',
  'STRASSE',
  '海丸',
  '第三海丸',
  'سفينة',
  '100%',
  'a_b',
  "O'Hara",
  '"Q"',
  '\\',
  '⛵️',
  '👩‍👩‍👧',
  'x)~or(',
  '*?[',
  'NEAR',
  'AND',
  '-1',
  '⛵️4321',
)

const name = fc.array(words, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '))

const timestamp = fc
  .tuple(fc.constantFrom(...CLOCK_CHANGES), fc.integer({ min: -60, max: 60 }), fc.boolean())
  .map(([point, hours, odd]) => new Date(point + hours * (HOUR / 2) + (odd ? -1 : 0)).toISOString())

const arbitraryOrder = fc.record({
  status: fc.constantFrom(...ORDER_STATUSES),
  customerName: name,
  customerEmail: fc.constantFrom(
    'ann@example.com',
    'bob@example.org',
    'émile@example.net',
    'nakamura4321@example.com',
    'nakamura4321@example.net',
  ),
  vesselName: fc.option(name, { nil: null }),
  imoNumber: fc.option(fc.constantFrom('9811000', '8814275', '9241061'), { nil: null }),
  calculatorType: fc.option(fc.constantFrom(...CALCULATOR_TYPES), { nil: null }),
  co2eKg: fc.oneof(
    fc.constantFrom(0, 0.1, 0.2, 1e9, 1603.6),
    fc.integer({ min: 0, max: 10_000_000 }).map((grams) => grams / 1000),
  ),
  amountMinor: fc.oneof(fc.constantFrom(0, 1, 1_000_000_000_000), fc.integer({ min: 0, max: 99 })),
  currency: fc.constantFrom('EUR', 'USD', 'JPY', 'BHD'),
  placedAt: timestamp,
  // May be earlier than `placedAt`: an order can be recorded after its fulfilment.
  fulfilledAt: fc.option(timestamp, { nil: null }),
})

/** Orders, many of which have the same values in sort and filter fields. */
export const someOrders = (maxLength: number): fc.Arbitrary<Order[]> =>
  fc.array(arbitraryOrder, { maxLength, size: 'max' }).map((orders) =>
    orders.map((order, index) => ({
      id: String(index + 1),
      orderNumber: `CW-${String(index + 1).padStart(6, '0')}`,
      calculatorData: null,
      orderSourceId: null,
      notes: '',
      createdAt: order.placedAt,
      updatedAt: order.placedAt,
      cancelledAt: null,
      version: 1,
      calculation: null,
      origin: null,
      checkout: null,
      cancelledFrom: null,
      paidAt: hasBeenPaid(order.status) ? order.placedAt : null,
      retirement: null,
      ...order,
    })),
  )

/** Search queries: words and parts of words, in any case. */
export const searches = fc.oneof(
  words,
  name.map((text) => text.toUpperCase()),
  name.map((text) => Array.from(text).slice(1, 4).join('')),
  fc.constantFrom(
    '%',
    '_',
    "'",
    '"',
    '\\',
    '海',
    'ς',
    'σ',
    'ss',
    'SS',
    '⛵️',
    'EMILE',
    'STRAẞE',
    '\u0301',
    '@EXAMPLE.ORG',
    '0000',
    'nakamura4321@',
    'Nakamura4321@example.com',
    'akamura4321@example.org',
    'ANN ⛵️4321',
    '"Q" ⛵️4321 "Q"',
  ),
  fc.constantFrom(
    'cw7',
    'CW-12',
    'ann cw3',
    'CW3 0.42',
    '42',
    '0.42',
    '0.042',
    'ann 42',
    'EXAMPLE 0',
  ),
  fc.constantFrom('com ann', 'anna a', '9811 ANN', 'ann IMO 9811000'),
  fc.constantFrom('9811', 'IMO 9811000', 'CW-00000', '*', '?', '[', 'OR', 'no such name', ' '),
)
