import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import t from 'tap'
import { calculateDashboardStats, RANGES } from '../../src/orders/dashboard-stats.js'
import { formatIsoDate } from '../../src/orders/day-calendar.js'
import { openReadOnly } from '../../src/database/open-database.js'
import { openSqliteOrderStore } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { PERIOD_CODES } from '../../src/order-store/sqlite/aggregates.js'
import { createOrderFinder } from '../../src/order-store/sqlite/find-orders.js'
import { CALCULATOR_CODES, STATUS_CODES } from '../../src/order-store/sqlite/order-row.js'
import {
  ORDER_SORTS,
  type OrderFilters,
  type OrderSort,
  type SortField,
} from '../../src/orders/order-filters.js'
import { createFirstVersion } from '../../src/orders/apply-changes.js'
import { ORDER_STATUSES } from '../../src/orders/order-status.js'
import type { Order } from '../../src/orders/order.js'
import { CALCULATOR_TYPES } from '../../src/calculator/calculator-data.js'
import { temporaryFolder } from '../support/app.js'
import { formatAmountInput } from '../../src/portal/orders/money-input.js'
import { fillStore, newOrder, searches, someOrders, TIME_ZONES } from '../support/order-store.js'

/* An independent implementation without indexes and aggregates. */

/** Returns a function that formats dates in a time zone. */
function dateIn(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return (moment: string | number) => format.format(new Date(moment))
}

const sameLetters = (text: string) =>
  Array.from(text.normalize('NFC'), (letter) =>
    letter.normalize('NFD').replace(/[\u0300-\u036f]/g, ''),
  )
    .join('')
    .normalize('NFC')
    .replaceAll('ẞ', 'ß')
    .toUpperCase()
    .toLowerCase()
    .replace(/ς/g, 'σ')

const isNotPlaced = ({ status, co2eKg }: Order): boolean =>
  co2eKg > 0 && (status === 'paid' || status === 'processing')

function matches(order: Order, filters: OrderFilters, date: (moment: string) => string): boolean {
  const { q = '', status = [], calculatorType = [], exception = [], currency, from, to } = filters
  const typed = q.trim().replace(/\bIMO (\d)/, '$1')
  const words = (sameLetters(typed) || typed).split(/\s+/)
  const text = [
    order.orderNumber,
    order.customerName,
    order.customerEmail,
    order.vesselName ?? '',
    order.imoNumber ?? '',
  ]
    .map(sameLetters)
    .join('\n')
  const [prefix, number] = order.orderNumber.toLowerCase().split(/-0*/)
  const exact = [
    `${prefix}${number}`,
    `${prefix}-${number}`,
    formatAmountInput(order.amountMinor, order.currency),
  ]
  return (
    words.every((word) => exact.includes(word) || text.includes(word)) &&
    (status.length === 0 || status.includes(order.status)) &&
    (calculatorType.length === 0 || calculatorType.includes(order.calculatorType as never)) &&
    (exception.length === 0 || isNotPlaced(order)) &&
    (currency === undefined || currency === order.currency) &&
    (from === undefined || date(order.placedAt) >= from) &&
    (to === undefined || date(order.placedAt) <= to)
  )
}

const withoutMarks = (text: string) => sameLetters(text).normalize('NFKD').replace(/\p{M}/gu, '')

/** Compares by UTF-8 bytes, which sort like code points. */
const compareText = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

const COMPARE: Record<SortField, (a: Order, b: Order) => number> = {
  placedAt: (a, b) => Date.parse(a.placedAt) - Date.parse(b.placedAt),
  orderNumber: (a, b) => compareText(a.orderNumber, b.orderNumber),
  customerName: (a, b) => compareText(withoutMarks(a.customerName), withoutMarks(b.customerName)),
  vesselName: (a, b) => {
    if (a.vesselName === null || b.vesselName === null) {
      return Number(a.vesselName === null) - Number(b.vesselName === null)
    }
    return compareText(withoutMarks(a.vesselName), withoutMarks(b.vesselName))
  },
  co2eKg: (a, b) => a.co2eKg - b.co2eKg,
  amountMinor: (a, b) => a.amountMinor - b.amountMinor,
  status: (a, b) => ORDER_STATUSES.indexOf(a.status) - ORDER_STATUSES.indexOf(b.status),
}

function sorted(orders: Order[], sort: OrderSort): Order[] {
  const compare = COMPARE[sort.replace('-', '') as SortField]
  const sign = sort.startsWith('-') ? -1 : 1
  return [...orders].sort((a, b) => sign * (compare(a, b) || Number(a.id) - Number(b.id)))
}

const dates = fc.constantFrom(
  '2011-12-29',
  '2011-12-30',
  '2018-02-17',
  '2018-11-04',
  '2024-02-29',
  '2024-03-31',
  '2025-12-31',
  '2026-01-01',
  '2026-03-08',
  '2026-03-29',
  '2026-10-25',
  '2026-11-01',
)

/** Usually undefined, so that enough orders match. */
const rarely = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })

const someFilters = fc
  .record({
    q: rarely(searches),
    status: rarely(fc.uniqueArray(fc.constantFrom(...ORDER_STATUSES), { maxLength: 3 })),
    calculatorType: rarely(fc.uniqueArray(fc.constantFrom(...CALCULATOR_TYPES), { maxLength: 2 })),
    exception: rarely(fc.constant(['not_placed'] as const)),
    currency: rarely(fc.constantFrom('EUR', 'USD', 'JPY')),
    from: rarely(dates),
    to: rarely(dates),
  })
  .map((filters) => JSON.parse(JSON.stringify(filters)) as OrderFilters)

t.test('lists, pages and exports match a scan of all orders', async (t) => {
  const folder = temporaryFolder(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      someOrders(80),
      fc.array(fc.tuple(someFilters, fc.constantFrom(...ORDER_SORTS)), {
        minLength: 8,
        maxLength: 8,
      }),
      fc.constantFrom(...TIME_ZONES),
      fc.integer({ min: 1, max: 20 }),
      async (orders, queries, timeZone, limit) => {
        const path = join(folder, `${++runs}.db`)
        fillStore(path, timeZone, orders)
        const reading = openReadOnly(path)
        const store = openSqliteOrderStore({ path, timeZone })
        // The second treats every search as one with many matches.
        const finders = [
          createOrderFinder(reading, store.calendar),
          createOrderFinder(reading, store.calendar, 0),
        ] as const
        const date = dateIn(timeZone)
        for (const [filters, sort] of queries) {
          const expected = sorted(
            orders.filter((order) => matches(order, filters, date)),
            sort,
          )
          const query = JSON.stringify({ filters, sort, timeZone })
          const ids = expected.map(({ id }) => Number(id))
          for (const finder of finders) {
            const paged: number[] = []
            for (let offset = 0; offset <= ids.length; offset += limit) {
              const found = finder.find(filters, { sort, offset, limit })
              assert.equal(found.total, ids.length, query)
              paged.push(...found.ids)
            }
            assert.deepEqual(paged, ids, query)
          }
          const { sql, values } = finders[0].toQuery('id', filters, sort)
          assert.deepEqual(reading.prepare(sql).pluck().all(values), ids, query)
        }
        reading.close()
        await store.close()
      },
    ),
    { numRuns: 60 },
  )
  t.equal(runs, 60)
})

const DAY_MS = 24 * 60 * 60 * 1000

t.test('statistics equal the sums of all orders, to the milligram and cent', async (t) => {
  const folder = temporaryFolder(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      someOrders(60),
      fc.constantFrom(...TIME_ZONES),
      fc.constantFrom(
        '2026-03-30T12:00:00Z',
        '2026-11-02T04:59:00Z',
        '2024-03-31T00:30:00Z',
        '2018-11-06T02:30:00Z',
        '2026-01-03T00:00:00Z',
      ),
      async (orders, timeZone, now) => {
        const path = join(folder, `${++runs}.db`)
        // Opened with another time zone below.
        fillStore(path, 'Asia/Tokyo', orders)
        const store = openSqliteOrderStore({ path, timeZone })
        const date = dateIn(timeZone)
        for (const range of RANGES) {
          const stats = await calculateDashboardStats(store, range, Date.parse(now))
          const within = (from: string, to: string) =>
            orders.filter(({ placedAt }) => date(placedAt) >= from && date(placedAt) <= to)
          const own = range === 'all' ? orders : within(stats.from, stats.to)
          assert.deepEqual(pick(stats), sumOrders(own), `${range} in ${timeZone} at ${now}`)
          const days = (Date.parse(stats.to) - Date.parse(stats.from)) / DAY_MS + 1
          if (range !== 'all') {
            assert.equal(stats.to, date(now), 'today is the last day')
            assert.equal(days, Number.parseInt(range), 'the number of days of the range')
            const before = (days: number) => formatIsoDate(Date.parse(stats.from) / DAY_MS - days)
            assert.deepEqual(stats.previous, sumOrders(within(before(days), before(1))))
            assert.equal(stats.timeline.length, days, 'a point for every day')
          }
          assert.equal(sum(stats.statusDistribution.map(({ count }) => count)), own.length)
          for (const { status, count } of stats.statusDistribution) {
            assert.equal(count, own.filter((order) => order.status === status).length, status)
          }
          stats.timeline.forEach((point, index) => {
            const end = stats.timeline[index + 1]?.date ?? '9999'
            const due = own.filter(
              ({ placedAt }) => date(placedAt) >= point.date && date(placedAt) < end,
            )
            const { orders: count, co2eKg, revenue } = sumOrders(due)
            assert.deepEqual(
              point,
              { date: point.date, orders: count, co2eKg, revenue },
              `${point.date} of ${range}`,
            )
          })
        }
        await store.close()
      },
    ),
    { numRuns: 40 },
  )
  t.equal(runs, 40)
})

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const pick = ({
  orders,
  co2eKg,
  revenue,
  fulfillment,
}: Awaited<ReturnType<typeof calculateDashboardStats>>) => ({
  orders,
  co2eKg,
  revenue,
  fulfillment,
})

function sumOrders(orders: Order[]) {
  const counted = orders.filter(({ status }) => !['cancelled', 'refunded'].includes(status))
  const milligrams = counted.reduce(
    (total, { co2eKg }) => total + BigInt(Math.round(co2eKg * 1e6)),
    0n,
  )
  const fulfilled = orders.filter(({ status }) => status === 'fulfilled').length
  return {
    orders: orders.length,
    co2eKg: Number(milligrams / 1_000_000n) + Number(milligrams % 1_000_000n) / 1e6,
    revenue: [...new Set(counted.map(({ currency }) => currency))].sort().map((currency) => ({
      currency,
      amountMinor: sum(
        counted
          .filter((order) => order.currency === currency)
          .map(({ amountMinor }) => amountMinor),
      ),
    })),
    fulfillment: {
      fulfilled,
      total: orders.length,
      rate: orders.length === 0 ? 0 : fulfilled / orders.length,
    },
  }
}

t.test('the timeline of all time uses weeks and months for long periods', async (t) => {
  const getTimeline = async (first: string) => {
    const path = join(temporaryFolder(t), 'orders.db')
    const store = openSqliteOrderStore({ path, timeZone: 'Europe/Lisbon' })
    await store.create(newOrder({ placedAt: first }), 'ann@example.com')
    const { step, timeline, from } = await calculateDashboardStats(
      store,
      'all',
      Date.parse('2026-11-20T12:00:00Z'),
    )
    await store.close()
    return {
      step,
      first: timeline[0]?.date,
      last: timeline.at(-1)?.date,
      from,
      points: timeline.length,
    }
  }
  t.strictSame(await getTimeline('2026-11-01T12:00:00Z'), {
    step: 'day',
    first: '2026-11-01',
    last: '2026-11-20',
    from: '2026-11-01',
    points: 20,
  })
  // The first order was on a Wednesday.
  t.match(await getTimeline('2026-07-01T12:00:00Z'), {
    step: 'week',
    first: '2026-06-29',
    last: '2026-11-16',
  })
  t.match(await getTimeline('2024-12-31T23:30:00Z'), {
    step: 'month',
    first: '2024-12-01',
    last: '2026-11-01',
    points: 24,
  })
})

t.test('an empty database has statistics of zero', async (t) => {
  const store = openSqliteOrderStore({
    path: join(temporaryFolder(t), 'orders.db'),
    timeZone: 'UTC',
  })
  const stats = await calculateDashboardStats(store, 'all', Date.parse('2026-11-20T12:00:00Z'))
  t.match(stats, { orders: 0, co2eKg: 0, revenue: [], from: '2026-11-20', to: '2026-11-20' })
  t.equal(stats.timeline.length, 1)
  await store.close()
})

t.test('totals include writes of other processes', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  // Like two processes, each with its own connections.
  const stores = [
    openSqliteOrderStore({ path, timeZone: 'UTC' }),
    openSqliteOrderStore({ path, timeZone: 'UTC' }),
  ]
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  const [one, other] = stores
  assert(one && other)
  const context = { by: 'a@example.com', ifVersions: null }
  const counts = async (filters: OrderFilters) => {
    const slice = { sort: '-placedAt', offset: 0, limit: 25 } as const
    return Promise.all(stores.map(async (store) => (await store.list(filters, slice)).total))
  }
  t.same(await counts({}), [0, 0])
  t.same([await one.listCurrencies(), await other.listCurrencies()], [[], []])
  const created = await one.create(newOrder({ status: 'paid', currency: 'EUR' }), context.by)
  t.same(await counts({}), [1, 1])
  await other.create(newOrder({ status: 'paid', currency: 'JPY' }), context.by)
  t.same(await counts({ status: ['paid'] }), [2, 2])
  t.same(
    [await one.listCurrencies(), await other.listCurrencies()],
    [
      ['EUR', 'JPY'],
      ['EUR', 'JPY'],
    ],
  )
  assert(created.outcome === 'created')
  await other.apply(created.order.id, { type: 'cancel' }, context)
  t.same(await counts({ status: ['paid'] }), [1, 1])
  t.same(await counts({ status: ['cancelled'], currency: 'EUR' }), [1, 1])
  await one.apply(created.order.id, { type: 'undo' }, context)
  t.same(await counts({ status: ['paid'] }), [2, 2])
})

t.test('finds names by any part, ignoring case and accents', async (t) => {
  const store = openSqliteOrderStore({
    path: join(temporaryFolder(t), 'orders.db'),
    timeZone: 'UTC',
  })
  await store.create(newOrder({ customerName: 'ΟΔΥΣΣΕΎΣ Straße', vesselName: '第三海丸' }), 'a')
  await store.create(newOrder({ customerName: 'Circe', customerEmail: 'no@example.org' }), 'a')
  const found = async (q: string) =>
    (await store.list({ q }, { sort: 'orderNumber', offset: 0, limit: 9 })).items.map(
      ({ id }) => id,
    )
  for (const q of [
    'Οδυσσευς',
    'οδυσσεύς',
    'οδυσσεύς'.normalize('NFD'),
    'STRAẞE',
    'οδυσ',
    'ΟΔΥΣ',
    'STRASSE',
    'strasse',
    '海',
    '三海',
    '第三海丸',
    'σευσ',
  ]) {
    t.strictSame(await found(q), ['1'], q)
  }
  t.strictSame(await found('@EXAMPLE.'), ['1', '2'])
  // After an edit, only the new text is found.
  await store.apply(
    '2',
    { type: 'edit', changes: { customerName: 'Calypso' } },
    { by: 'a', ifVersions: null },
  )
  t.strictSame(await found('calyp'), ['2'])
  t.strictSame(await found('ly'), ['2'])
  t.strictSame(await found('circe'), [])
  await store.close()
})

t.test('a search never matches across two fields', async (t) => {
  const store = openSqliteOrderStore({
    path: join(temporaryFolder(t), 'orders.db'),
    timeZone: 'UTC',
  })
  t.teardown(() => store.close())
  await store.create(newOrder({ customerName: 'Ann Example', vesselName: 'Calypso' }), 'ann')
  const count = async (q: string) =>
    (await store.list({ q }, { sort: 'orderNumber', offset: 0, limit: 9 })).total
  t.equal(await count('001ann'), 0)
  t.equal(await count('1\nA'), 1, 'two words')
  t.equal(await count('comcalypso'), 0)
  t.equal(await count('com\r\ncalypso'), 1)
  t.equal(await count('\nann'), 1)
  t.equal(await count('ann\nexample'), 1, 'a line break is a space')
})

t.test('finds orders by words in any order, short numbers and amounts', async (t) => {
  const store = openSqliteOrderStore({
    path: join(temporaryFolder(t), 'orders.db'),
    timeZone: 'UTC',
  })
  t.teardown(() => store.close())
  const create = (values: object) => store.create(newOrder(values), 'ann')
  await create({ customerName: 'Naviera Baleària', vesselName: 'Xaloc', amountMinor: 14_463 })
  await create({ customerName: 'Xaloc Tours', vesselName: 'Mistral', amountMinor: 123_450 })
  await create({ customerName: 'Kobe "K" Lines', currency: 'JPY', amountMinor: 14_463 })
  const find = async (q: string) =>
    (await store.list({ q }, { sort: 'orderNumber', offset: 0, limit: 9 })).items.map(
      ({ id }) => id,
    )
  t.same(await find('balear xaloc'), ['1'])
  t.same(await find('XALOC  naviera'), ['1'])
  t.same(await find('xaloc'), ['1', '2'])
  t.same(await find('xaloc kobe'), [])
  t.same(await find('"k" lines'), ['3'], 'quotation marks are literal')
  t.same(await find('"kobe"'), [])
  t.same(await find('cw2'), ['2'])
  t.same(await find('CW-3 kobe'), ['3'])
  t.same(await find('CW-3 balear'), [])
  t.same(await find('144.63'), ['1'], 'not 14 463 yen')
  t.same(await find('naviera 144,63'), ['1'])
  t.same(await find('€1,234.50'), ['2'])
  t.same(await find('1.234,50 tours'), ['2'])
  for (const yen of ['14463', '14,463', '¥14.463']) t.same(await find(yen), ['3'], yen)
})

t.test('deletes expired idempotency keys with the next order', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const store = openSqliteOrderStore({ path, timeZone: 'UTC' })
  await store.create(newOrder(), 'a', 'old')
  await store.create(newOrder(), 'a', 'new')
  const db = new Database(path)
  db.prepare('UPDATE idempotency_keys SET at = ? WHERE order_id = 1').run(Date.now() - 31 * DAY_MS)
  await store.create(newOrder(), 'a')
  t.strictSame(db.prepare('SELECT order_id FROM idempotency_keys').pluck().all(), [2])
  t.match(
    db.prepare('EXPLAIN QUERY PLAN DELETE FROM idempotency_keys WHERE at < 0').get(),
    { detail: /USING .*INDEX idempotency_keys_by_age/ },
    'uses an index',
  )
  db.close()
  await store.close()
})

t.test('stored codes of statuses, calculators and periods never change', async (t) => {
  t.strictSame(STATUS_CODES, {
    pending: 0,
    paid: 1,
    processing: 2,
    fulfilled: 3,
    refunded: 4,
    cancelled: 5,
  })
  t.strictSame(CALCULATOR_CODES, { none: -1, fuel: 0, distance: 1, custom: 2 })
  t.strictSame(PERIOD_CODES, { day: 0, week: 1, month: 2, all: 3 })
})

t.test('sorts order numbers numerically beyond the millionth', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  fillStore(path, 'UTC', numbered(['CW-1000000', 'CW-999999', 'CW-000002']))
  const store = openSqliteOrderStore({ path, timeZone: 'UTC' })
  const { items } = await store.list({}, { sort: 'orderNumber', offset: 0, limit: 9 })
  t.strictSame(
    items.map(({ orderNumber }) => orderNumber),
    ['CW-000002', 'CW-999999', 'CW-1000000'],
  )
  await store.close()
})

const numbered = (orderNumbers: string[]): Order[] =>
  orderNumbers.map((orderNumber, index) => ({
    ...createFirstVersion(newOrder(), '2026-11-20T12:00:00.000Z'),
    id: String(index + 1),
    orderNumber,
  }))
