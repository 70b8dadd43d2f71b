import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { migratePostgres } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import type { OrderFilters, OrderSort } from '../../src/orders/order-filters.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { temporaryFolder } from '../support/app.js'
import { checkStatistics } from '../support/order-model.js'
import { startPostgres } from '../support/postgres.js'
import { openFileStore, openPostgresStore } from '../support/stores.js'

// Databases of the version that had totals of weeks and months: 60 orders in Europe/Athens. In
// PostgreSQL, a third of the changes had not been added to the totals yet.

const FOLDER = join(projectRoot, 'test', 'upgrade', '2026-11-27')
const read = (name: string): Buffer => readFileSync(join(FOLDER, name))

/** What that version read from both databases. */
const facts = JSON.parse(read('facts.json').toString()) as {
  lists: { filters: OrderFilters; sort: OrderSort; total: number; ids: string[] }[]
  statistics: unknown
}

async function checkUpgrade(t: Test, store: OrderStore) {
  for (const { filters, sort, total, ids } of facts.lists) {
    const list = await store.list(filters, { sort, offset: 0, limit: 100 })
    const found = { total: list.total, ids: list.items.map(({ id }) => id) }
    t.same(found, { total, ids }, JSON.stringify({ filters, sort }))
  }
  const statistics = await store.readStatistics(async (statistics) => ({
    all: await statistics.getSummary({ from: null, to: null }),
    part: await statistics.getSummary({ from: 20_150, to: 20_244 }),
    days: [...(await statistics.getTimeline('day', 20_089, 20_400)).points.values()],
    weeks: [...(await statistics.getTimeline('week', 20_087, 20_400)).points.values()],
    months: [...(await statistics.getTimeline('month', 20_089, 20_400)).points.values()],
    range: await statistics.getDayRange(),
    median: (await statistics.getMedianFulfilmentTime({ from: null, to: null })) !== null,
    exceptions: await statistics.countExceptions(),
    currencies: [...(await statistics.countByCurrency())].sort(),
  }))
  t.strictSame(statistics, facts.statistics)
  const slice = { sort: 'orderNumber', offset: 0, limit: 100 } as const
  const context = { by: 'ann', ifVersions: null }
  await store.apply('10', { type: 'edit', changes: { co2eKg: 12.000_001 } }, context)
  await checkStatistics(store, (await store.list({}, slice)).items, Date.now())
}

t.test('SQLite', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  writeFileSync(path, gunzipSync(read('orders.sqlite.gz')))
  const store = await openFileStore({ path, timeZone: 'Europe/Athens' })
  t.teardown(() => store.close())
  await checkUpgrade(t, store)
})

t.test('PostgreSQL', async (t) => {
  const url = await (await startPostgres(t)).createDatabase()
  const client = new pg.Client(url)
  await client.connect()
  // Commands of psql start with a backslash.
  await client.query(
    gunzipSync(read('orders.sql.gz'))
      .toString()
      .replace(/^\\.*$/gm, ''),
  )
  await client.end()
  const postgres = openPostgres(url, { poolSize: 2 })
  t.teardown(() => postgres.close())
  await migratePostgres(postgres)
  const store = await openPostgresStore(postgres, url, 'Europe/Athens')
  await checkUpgrade(t, store)
})
