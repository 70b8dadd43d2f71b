import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Test } from 'tap'
import { createDayCalendar } from '../../src/core/formatting/day-calendar.js'
import type { Database } from '../../src/database/database.js'
import type { DatabaseSource } from '../../src/database/stream-rows.js'
import { ORDER_SORTS, type OrderFilters } from '../../src/orders/order-filters.js'
import type { Order } from '../../src/orders/order.js'
import { DIALECTS } from '../../src/orders/store/dialect.js'
import { OrderFinder, readOrderRows } from '../../src/orders/store/find-orders.js'
import { listCurrencies } from '../../src/orders/store/look-up-orders.js'
import type { ListSlice } from '../../src/orders/store/order-store.js'
import { searchOrders } from '../../src/orders/store/search-orders.js'
import { toSearchWords } from '../../src/orders/store/search-text.js'
import { toWord } from '../../src/orders/store/search-words.js'
import { dateIn, matches, someFilters, sorted } from '../support/order-model.js'
import { someOrders, TIME_ZONES } from '../support/order-store.js'

type OpenOrders = (
  t: Test,
  orders: Order[],
  timeZone: string,
) => Promise<{ database: Database; source: DatabaseSource }>

/** As with few orders; as with many, which use the search index; and as with many matches, too. */
const LIMITS = [
  { exact: 10_000, window: 2_000, chunk: 10_000 },
  { exact: 25, window: 5, chunk: 4 },
  { exact: 2, window: 3, chunk: 4 },
]

/** Compares lists, searches and exports with a scan of all orders. */
export function listContract(t: Test, open: OpenOrders, numRuns = 40): void {
  t.test('lists, pages and exports match a scan of all orders', async (t) => {
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
          const { database, source } = await open(t, orders, timeZone)
          const finder = new OrderFinder(DIALECTS[database.engine], createDayCalendar(timeZone))
          const date = dateIn(timeZone)
          const currencies = new Set(orders.map(({ currency }) => currency))
          assert.deepEqual(await database.read(listCurrencies), [...currencies].sort())
          for (const [filters, sort] of queries) {
            const ids = sorted(
              orders.filter((order) => matches(order, filters, date)),
              sort,
            ).map(({ id }) => Number(id))
            const words = toSearchWords(filters.q).map(toWord)
            const find = (
              limits: (typeof LIMITS)[number],
              filters: OrderFilters,
              slice: ListSlice,
            ) =>
              database.read((tx) =>
                words.length === 0
                  ? finder.find(tx, filters, slice)
                  : searchOrders(tx, finder, words, filters, slice, limits),
              )
            for (const limits of LIMITS) {
              const query = JSON.stringify({ filters, sort, timeZone, limits })
              const paged: number[] = []
              for (let offset = 0; offset <= ids.length; offset += limit) {
                const found = await find(limits, filters, { sort, offset, limit })
                if (found.isTotalExact) assert.equal(found.total, ids.length, query)
                assert(found.isTotalExact || limits.exact < 10_000, query)
                paged.push(...found.ids)
              }
              assert.deepEqual(paged, ids, query)
            }
            const exported: number[] = []
            for await (const rows of readOrderRows({ source, timeZone, filters, sort })) {
              exported.push(...rows.map(({ id }) => id))
            }
            assert.deepEqual(exported, ids, JSON.stringify({ filters, sort, timeZone }))
          }
          await database.close()
          runs++
        },
      ),
      { numRuns },
    )
    t.equal(runs, numRuns)
  })
}
