import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { createFirstVersion } from '../../src/orders/change-order.js'
import { calculateDashboardStats } from '../../src/orders/dashboard-stats.js'
import type { OrderFilters } from '../../src/orders/order-filters.js'
import type { Order } from '../../src/orders/order.js'
import { CALCULATOR_CODES, STATUS_CODES } from '../../src/orders/store/order-row.js'
import { listContract } from '../contract/order-list-contract.js'
import { searchContract } from '../contract/order-search-contract.js'
import { temporaryFolder } from '../support/app.js'
import { checkStatistics } from '../support/order-model.js'
import { fillStore, newOrder, someOrders, TIME_ZONES } from '../support/order-store.js'
import { openFileStore, openTestStore } from '../support/stores.js'

const openMemory = async (t: Test, orders: Order[], timeZone: string) => {
  const path = join(temporaryFolder(t), 'orders.db')
  await fillStore(path, timeZone, orders)
  const database = openSqliteDatabase(path)
  return { database, source: { type: 'sqlite', path } as const }
}

listContract(t, openMemory)

t.test('folds the search texts of an earlier version again', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const before = await openFileStore({ path, timeZone: 'UTC' })
  for (const customerName of ['Oda', 'Ødegård', 'Zoe']) {
    await before.create(newOrder({ customerName }), 'ann')
  }
  await before.close()
  const db = new Database(path)
  db.exec(`
    INSERT INTO search_index (search_index, rowid, text)
      SELECT 'delete', id, text FROM search_texts WHERE id = 2;
    UPDATE search_texts SET text = replace(text, 'odegard', 'ødegard');
    INSERT INTO search_index (rowid, text) SELECT id, text FROM search_texts WHERE id = 2;
    UPDATE orders SET customer_name_key = 'ødegard' WHERE id = 2;
    DELETE FROM settings WHERE name = 'folding'`)
  db.close()
  const store = await openTestStore(t, { path })
  const find = async (q?: string) =>
    (
      await store.list(q === undefined ? {} : { q }, { sort: 'customerName', offset: 0, limit: 9 })
    ).items.map(({ customerName }) => customerName)
  t.same(await find('odegard'), ['Ødegård'])
  t.same(await find('od'), ['Oda', 'Ødegård'], 'short words too')
  t.same(await find(), ['Oda', 'Ødegård', 'Zoe'])
  await store.apply(
    '2',
    { type: 'edit', changes: { customerName: 'Ann' } },
    { by: 'ann', ifVersions: null },
  )
  t.same(await find('odegard'), [], 'the index has no remains')
})

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
        await fillStore(path, 'Asia/Tokyo', orders)
        const store = await openFileStore({ path, timeZone })
        await checkStatistics(store, orders, Date.parse(now))
        await store.close()
      },
    ),
    { numRuns: 40 },
  )
  t.equal(runs, 40)
})

t.test('the timeline of all time uses weeks and months for long periods', async (t) => {
  const getTimeline = async (first: string) => {
    const store = await openTestStore(t, { timeZone: 'Europe/Lisbon' })
    await store.create(newOrder({ placedAt: first }), 'ann@example.com')
    const { step, timeline, from } = await calculateDashboardStats(
      store,
      { range: 'all' },
      Date.parse('2026-11-20T12:00:00Z'),
    )
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
  const now = Date.parse('2026-11-20T12:00:00Z')
  const stats = await calculateDashboardStats(await openTestStore(t), { range: 'all' }, now)
  t.match(stats, { orders: 0, co2eKg: 0, revenue: [], from: '2026-11-20', to: '2026-11-20' })
  t.equal(stats.timeline.length, 1)
})

t.test('totals include writes of other processes', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  // Like two processes, each with its own connections.
  const [one, other] = [await openTestStore(t, { path }), await openTestStore(t, { path })]
  const context = { by: 'a@example.com', ifVersions: null }
  const counts = async (filters: OrderFilters) => {
    const slice = { sort: '-placedAt', offset: 0, limit: 25 } as const
    return Promise.all([one, other].map(async (store) => (await store.list(filters, slice)).total))
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

t.test(
  'statistics are read from one snapshot, however often orders change meanwhile',
  async (t) => {
    const store = await openTestStore(t)
    const readings = await store.readStatistics(async (statistics) => {
      const counts = []
      for (let i = 0; i < 4; i++) {
        counts.push((await statistics.countByCurrency()).size)
        await store.create(
          newOrder({ currency: ['EUR', 'JPY', 'USD', 'NOK'][i] ?? '' }),
          'a@b.example',
        )
        t.equal((await store.get(String(i + 1)))?.id, String(i + 1), 'other reads see the change')
      }
      return counts
    })
    t.same(readings, [0, 0, 0, 0])
    t.equal((await store.listCurrencies()).length, 4)
  },
)

searchContract(t, openTestStore)

t.test('deletes expired idempotency keys with the next one', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const store = await openTestStore(t, { path })
  await store.create(newOrder(), 'a', 'old')
  await store.create(newOrder(), 'a', 'new')
  const db = new Database(path)
  db.prepare('UPDATE idempotency_keys SET at = ? WHERE order_id = 1').run(
    Date.now() - 31 * 24 * 60 * 60 * 1000,
  )
  await store.create(newOrder(), 'a', 'next')
  t.strictSame(db.prepare('SELECT order_id FROM idempotency_keys ORDER BY 1').pluck().all(), [2, 3])
  t.match(
    db.prepare('EXPLAIN QUERY PLAN DELETE FROM idempotency_keys WHERE at < 0').get(),
    { detail: /USING .*INDEX idempotency_keys_by_age/ },
    'uses an index',
  )
  db.close()
})

t.test('stored codes of statuses and calculators never change', async (t) => {
  t.strictSame(STATUS_CODES, {
    pending: 0,
    paid: 1,
    processing: 2,
    fulfilled: 3,
    refunded: 4,
    cancelled: 5,
  })
  t.strictSame(CALCULATOR_CODES, { none: -1, fuel: 0, distance: 1, custom: 2 })
})

t.test('sorts order numbers numerically beyond the millionth', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const orderNumbers = ['CW-1000000', 'CW-999999', 'CW-000002']
  const orders = orderNumbers.map((orderNumber, index) => ({
    ...createFirstVersion(newOrder(), '2026-11-20T12:00:00.000Z'),
    id: String(index + 1),
    orderNumber,
  }))
  await fillStore(path, 'UTC', orders)
  const store = await openTestStore(t, { path })
  const { items } = await store.list({}, { sort: 'orderNumber', offset: 0, limit: 9 })
  t.strictSame(
    items.map(({ orderNumber }) => orderNumber),
    orderNumbers.toReversed(),
  )
})
