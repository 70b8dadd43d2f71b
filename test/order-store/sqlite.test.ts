import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import t from 'tap'
import { calculateDashboardStats, RANGES } from '../../src/orders/dashboard-stats.js'
import { formatIsoDate } from '../../src/orders/day-calendar.js'
import { openReadOnly } from '../../src/database/open-database.js'
import { openSqliteOrderStore } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { createOrderFinder } from '../../src/order-store/sqlite/find-orders.js'
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
import { fillStore, newOrder, searches, someOrders, TIME_ZONES } from '../support/order-store.js'

/* A recomputation that knows nothing of indexes and sums. */

/** The date that a calendar on the wall of a time zone shows. */
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

function matches(order: Order, filters: OrderFilters, date: (moment: string) => string): boolean {
  const { q = '', status = [], calculatorType = [], currency, from, to } = filters
  const typed = q.trim()
  const text = sameLetters(typed.replace(/^IMO (\d)/, '$1')) || typed
  const fields = [
    order.orderNumber,
    order.customerName,
    order.customerEmail,
    order.vesselName ?? '',
    order.imoNumber ?? '',
  ]
  return (
    fields.some((field) => sameLetters(field).includes(text)) &&
    (status.length === 0 || status.includes(order.status)) &&
    (calculatorType.length === 0 || calculatorType.includes(order.calculatorType as never)) &&
    (currency === undefined || currency === order.currency) &&
    (from === undefined || date(order.placedAt) >= from) &&
    (to === undefined || date(order.placedAt) <= to)
  )
}

const withoutMarks = (text: string) => sameLetters(text).normalize('NFKD').replace(/\p{M}/gu, '')

/** By the bytes of UTF-8, which sort as the code points do. */
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

/** Mostly left out, so that enough orders are left to list. */
const seldom = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })

const someFilters = fc
  .record({
    q: seldom(searches),
    status: seldom(fc.uniqueArray(fc.constantFrom(...ORDER_STATUSES), { maxLength: 3 })),
    calculatorType: seldom(fc.uniqueArray(fc.constantFrom(...CALCULATOR_TYPES), { maxLength: 2 })),
    currency: seldom(fc.constantFrom('EUR', 'USD', 'JPY')),
    from: seldom(dates),
    to: seldom(dates),
  })
  .map((filters) => JSON.parse(JSON.stringify(filters)) as OrderFilters)

t.test('lists, pages and exports are what a plain look through all orders finds', async (t) => {
  const folder = temporaryFolder(t)
  let books = 0
  await fc.assert(
    fc.asyncProperty(
      someOrders(80),
      fc.array(fc.tuple(someFilters, fc.constantFrom(...ORDER_SORTS)), {
        minLength: 8,
        maxLength: 8,
      }),
      fc.constantFrom(...TIME_ZONES),
      fc.integer({ min: 1, max: 20 }),
      async (orders, questions, timeZone, limit) => {
        const path = join(folder, `book-${++books}.db`)
        fillStore(path, timeZone, orders)
        const reading = openReadOnly(path)
        const book = openSqliteOrderStore({ path, timeZone })
        // The second one takes every text for a common one, as some are in a large book.
        const finders = [
          createOrderFinder(reading, book.calendar),
          createOrderFinder(reading, book.calendar, 0),
        ] as const
        const date = dateIn(timeZone)
        for (const [filters, sort] of questions) {
          const expected = sorted(
            orders.filter((order) => matches(order, filters, date)),
            sort,
          )
          const asked = JSON.stringify({ filters, sort, timeZone })
          const ids = expected.map(({ id }) => Number(id))
          for (const finder of finders) {
            const paged: number[] = []
            for (let offset = 0; offset <= ids.length; offset += limit) {
              const found = finder.find(filters, { sort, offset, limit })
              assert.equal(found.total, ids.length, asked)
              paged.push(...found.ids)
            }
            assert.deepEqual(paged, ids, asked)
          }
          const { sql, values } = finders[0].toQuery('id', filters, sort)
          assert.deepEqual(reading.prepare(sql).pluck().all(values), ids, asked)
        }
        reading.close()
        await book.close()
      },
    ),
    { numRuns: 60 },
  )
  t.equal(books, 60)
})

const DAY_MS = 24 * 60 * 60 * 1000

t.test(
  'statistics are what a plain sum over all orders gives, to the milligram and cent',
  async (t) => {
    const folder = temporaryFolder(t)
    let books = 0
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
          const path = join(folder, `book-${++books}.db`)
          // The sums of a book must survive its zone's change.
          fillStore(path, 'Asia/Tokyo', orders)
          const book = openSqliteOrderStore({ path, timeZone })
          const date = dateIn(timeZone)
          for (const range of RANGES) {
            const stats = calculateDashboardStats(book, range, Date.parse(now))
            const within = (from: string, to: string) =>
              orders.filter(({ placedAt }) => date(placedAt) >= from && date(placedAt) <= to)
            const own = range === 'all' ? orders : within(stats.from, stats.to)
            assert.deepEqual(pick(stats), plainFigures(own), `${range} in ${timeZone} at ${now}`)
            const days = (Date.parse(stats.to) - Date.parse(stats.from)) / DAY_MS + 1
            if (range !== 'all') {
              assert.equal(stats.to, date(now), 'today is the last day')
              assert.equal(days, Number.parseInt(range), 'as many days as asked for')
              const before = (days: number) => formatIsoDate(Date.parse(stats.from) / DAY_MS - days)
              assert.deepEqual(stats.previous, plainFigures(within(before(days), before(1))))
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
              const { orders: count, co2eKg, revenue } = plainFigures(due)
              assert.deepEqual(
                point,
                { date: point.date, orders: count, co2eKg, revenue },
                `${point.date} of ${range}`,
              )
            })
          }
          await book.close()
        },
      ),
      { numRuns: 40 },
    )
    t.equal(books, 40)
  },
)

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const pick = ({
  orders,
  co2eKg,
  revenue,
  fulfillment,
}: ReturnType<typeof calculateDashboardStats>) => ({
  orders,
  co2eKg,
  revenue,
  fulfillment,
})

function plainFigures(orders: Order[]) {
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

t.test('a timeline of all time takes weeks and months where days are too many', async (t) => {
  const steps = async (first: string) => {
    const path = join(temporaryFolder(t), 'orders.db')
    const book = openSqliteOrderStore({ path, timeZone: 'Europe/Lisbon' })
    await book.create(newOrder({ placedAt: first }), 'ann@example.com')
    const { step, timeline, from } = calculateDashboardStats(
      book,
      'all',
      Date.parse('2026-11-20T12:00:00Z'),
    )
    await book.close()
    return {
      step,
      first: timeline[0]?.date,
      last: timeline.at(-1)?.date,
      from,
      points: timeline.length,
    }
  }
  t.strictSame(await steps('2026-11-01T12:00:00Z'), {
    step: 'day',
    first: '2026-11-01',
    last: '2026-11-20',
    from: '2026-11-01',
    points: 20,
  })
  // The first Monday lies before the first order's Wednesday.
  t.match(await steps('2026-07-01T12:00:00Z'), {
    step: 'week',
    first: '2026-06-29',
    last: '2026-11-16',
  })
  t.match(await steps('2024-12-31T23:30:00Z'), {
    step: 'month',
    first: '2024-12-01',
    last: '2026-11-01',
    points: 24,
  })
})

t.test('an empty book has statistics, all zero', async (t) => {
  const book = openSqliteOrderStore({
    path: join(temporaryFolder(t), 'orders.db'),
    timeZone: 'UTC',
  })
  const stats = calculateDashboardStats(book, 'all', Date.parse('2026-11-20T12:00:00Z'))
  t.match(stats, { orders: 0, co2eKg: 0, revenue: [], from: '2026-11-20', to: '2026-11-20' })
  t.equal(stats.timeline.length, 1)
  await book.close()
})

t.test('a list counts what has been written since the one before, by whomever', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  // As two processes have it, each with connections of its own.
  const books = [
    openSqliteOrderStore({ path, timeZone: 'UTC' }),
    openSqliteOrderStore({ path, timeZone: 'UTC' }),
  ]
  t.teardown(() => Promise.all(books.map((book) => book.close())))
  const [one, other] = books
  assert(one && other)
  const context = { by: 'a@example.com', ifVersions: null }
  const counts = async (filters: OrderFilters) => {
    const slice = { sort: '-placedAt', offset: 0, limit: 25 } as const
    return Promise.all(books.map(async (book) => (await book.list(filters, slice)).total))
  }
  t.same(await counts({}), [0, 0])
  t.same([one.listCurrencies(), other.listCurrencies()], [[], []])
  const entered = await one.create(newOrder({ status: 'paid', currency: 'EUR' }), context.by)
  t.same(await counts({}), [1, 1])
  await other.create(newOrder({ status: 'paid', currency: 'JPY' }), context.by)
  t.same(await counts({ status: ['paid'] }), [2, 2])
  t.same(
    [one.listCurrencies(), other.listCurrencies()],
    [
      ['EUR', 'JPY'],
      ['EUR', 'JPY'],
    ],
  )
  assert(entered.outcome === 'created')
  await other.apply(entered.order.id, { type: 'cancel' }, context)
  t.same(await counts({ status: ['paid'] }), [1, 1])
  t.same(await counts({ status: ['cancelled'], currency: 'EUR' }), [1, 1])
  await one.apply(entered.order.id, { type: 'undo' }, context)
  t.same(await counts({ status: ['paid'] }), [2, 2])
})

t.test('a name is found by any part of it, without its capitals and accents', async (t) => {
  const book = openSqliteOrderStore({
    path: join(temporaryFolder(t), 'orders.db'),
    timeZone: 'UTC',
  })
  await book.create(newOrder({ customerName: 'ΟΔΥΣΣΕΎΣ Straße', vesselName: '第三海丸' }), 'a')
  await book.create(newOrder({ customerName: 'Nobody', customerEmail: 'no@example.org' }), 'a')
  const found = async (q: string) =>
    (await book.list({ q }, { sort: 'orderNumber', offset: 0, limit: 9 })).items.map(({ id }) => id)
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
  t.strictSame(await found('com\nst'), [], 'not across two fields')
  // A change of the text is found at once, and the old text no more.
  await book.apply(
    '2',
    { type: 'edit', changes: { customerName: 'Calypso' } },
    { by: 'a', ifVersions: null },
  )
  t.strictSame(await found('calyp'), ['2'])
  t.strictSame(await found('ly'), ['2'])
  t.strictSame(await found('nobody'), [])
  await book.close()
})

t.test('keys of repeats that nobody sends any more are dropped at the start', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const first = openSqliteOrderStore({ path, timeZone: 'UTC' })
  await first.create(newOrder(), 'a', 'old')
  await first.create(newOrder(), 'a', 'new')
  await first.close()
  const db = new Database(path)
  db.prepare('UPDATE idempotency_keys SET at = ? WHERE order_id = 1').run(Date.now() - 31 * DAY_MS)
  await openSqliteOrderStore({ path, timeZone: 'UTC' }).close()
  t.strictSame(db.prepare('SELECT order_id FROM idempotency_keys').pluck().all(), [2])
  t.match(
    db.prepare('EXPLAIN QUERY PLAN DELETE FROM idempotency_keys WHERE at < 0').get(),
    { detail: /USING .*INDEX idempotency_keys_by_age/ },
    'however many there are',
  )
  db.close()
})

t.test('order numbers sort by their number past the millionth', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  fillStore(path, 'UTC', numbered(['CW-1000000', 'CW-999999', 'CW-000002']))
  const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
  const { items } = await book.list({}, { sort: 'orderNumber', offset: 0, limit: 9 })
  t.strictSame(
    items.map(({ orderNumber }) => orderNumber),
    ['CW-000002', 'CW-999999', 'CW-1000000'],
  )
  await book.close()
})

const numbered = (orderNumbers: string[]): Order[] =>
  orderNumbers.map((orderNumber, index) => ({
    ...createFirstVersion(newOrder(), '2026-11-20T12:00:00.000Z'),
    id: String(index + 1),
    orderNumber,
  }))
