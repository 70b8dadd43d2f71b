import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { findCertificate, insertCertificate } from '../../src/certificates/certificate-store.js'
import { CommitUnknownError } from '../../src/database/database.js'
import { migratePostgres, POSTGRES_SCHEMA_VERSION } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import type { Order } from '../../src/orders/order.js'
import { readOrder } from '../../src/orders/store/order-records.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { listContract } from '../contract/order-list-contract.js'
import { searchContract } from '../contract/order-search-contract.js'
import { ordersContract } from '../contract/order-store-contract.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { checkStatistics } from '../support/order-model.js'
import { addOrders, newOrder, someOrders, TIME_ZONES } from '../support/order-store.js'
import { startPostgres } from '../support/postgres.js'
import { copyOrders, runCommand } from '../support/run-command.js'
import { openFileStore, openPostgresStore } from '../support/stores.js'

const server = await startPostgres(t)
const strictServer = await startPostgres(t, { default_transaction_isolation: 'serializable' })

for (const { name, server: one } of [
  { name: 'on PostgreSQL', server },
  { name: 'with serializable transactions', server: strictServer },
]) {
  t.test(name, async (t) => {
    ordersContract(t, {
      createEnvironment: async (t) => ({
        DATABASE_URL: await one.createDatabase(),
        DATA_DIR: temporaryFolder(t),
      }),
    })
  })
}

async function openDatabase(t: Test, url?: string) {
  const postgres = openPostgres(url ?? (await server.createDatabase()), { poolSize: 4 })
  t.teardown(() => postgres.close())
  await migratePostgres(postgres)
  return postgres
}

async function openStore(t: Test, timeZone: string, orders: Order[] = []) {
  const url = await server.createDatabase()
  const postgres = await openDatabase(t, url)
  const store = await openPostgresStore(postgres, url, timeZone)
  await addOrders(postgres, timeZone, orders)
  return { store, postgres, url }
}

searchContract(t, async (t) => (await openStore(t, 'UTC')).store)

listContract(
  t,
  async (t, orders, timeZone) => {
    const { postgres, url } = await openStore(t, timeZone, orders)
    return {
      database: { ...postgres, close: async () => undefined },
      source: { type: 'postgres', url },
    }
  },
  12,
)

t.test('statistics equal the sums of all orders, in any time zone', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      someOrders(60),
      fc.constantFrom(...TIME_ZONES),
      fc.constantFrom('2026-03-30T12:00:00Z', '2026-11-02T04:59:00Z', '2018-11-06T02:30:00Z'),
      async (orders, timeZone, now) => {
        const { store, postgres, url } = await openStore(t, timeZone, orders)
        await checkStatistics(store, orders, Date.parse(now))
        const moved = await openPostgresStore(postgres, url, 'Asia/Tokyo')
        await checkStatistics(moved, orders, Date.parse(now))
      },
    ),
    { numRuns: 12 },
  )
})

t.test('totals are exact while orders are changed concurrently', async (t) => {
  const { store } = await openStore(t, 'UTC')
  const context = { by: 'ann', ifVersions: null }
  const writing = new AbortController()
  const reading = (async () => {
    while (!writing.signal.aborted) {
      const { orders } = await store.readStatistics((statistics) =>
        statistics.getSummary({ from: null, to: null }),
      )
      const { total } = await store.list({}, { sort: 'placedAt', offset: 0, limit: 1 })
      t.ok(total >= orders, `${orders}, then ${total}`)
    }
  })()
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let i = 0; i < 20; i++) {
        const created = await store.create(newOrder(), 'ann')
        if (created.outcome !== 'created') throw new Error(created.outcome)
        const changes = { co2eKg: i + 0.1, status: 'paid' } as const
        await store.apply(created.order.id, { type: 'edit', changes }, context)
      }
    }),
  )
  writing.abort()
  await reading
  const { items } = await store.list({}, { sort: 'placedAt', offset: 0, limit: 100 })
  t.equal(items.length, 80)
  t.equal(new Set(items.map(({ orderNumber }) => orderNumber)).size, 80)
  await checkStatistics(store, items, Date.now())
})

t.test('folds the search texts of an earlier version again', async (t) => {
  const { store: before, postgres, url } = await openStore(t, 'UTC')
  for (const customerName of ['Oda', 'Ødegård', 'Zoe']) {
    await before.create(newOrder({ customerName }), 'ann')
  }
  await postgres.query(
    "UPDATE order_search SET text = replace(text, 'odegard', 'ødegard'), grams = '{}' WHERE order_id = 2",
  )
  await postgres.query("UPDATE orders SET customer_name_key = 'ødegard' WHERE id = 2")
  await postgres.query("DELETE FROM settings WHERE name = 'folding'")
  const store = await openPostgresStore(postgres, url, 'UTC')
  const find = async (q?: string) =>
    (
      await store.list(q === undefined ? {} : { q }, { sort: 'customerName', offset: 0, limit: 9 })
    ).items.map(({ customerName }) => customerName)
  t.same(await find('odegard'), ['Ødegård'])
  t.same(await find(), ['Oda', 'Ødegård', 'Zoe'])
})

t.test('ten processes migrate an empty database at once', async (t) => {
  let url = ''
  for (let round = 0; round < 5; round++) {
    url = await server.createDatabase()
    const versions = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const postgres = openPostgres(url, { poolSize: 2 })
        const version = await migratePostgres(postgres)
        await postgres.close()
        return version
      }),
    )
    t.same(versions.sort(), [0, ...Array<number>(9).fill(POSTGRES_SCHEMA_VERSION)])
  }
  const postgres = await openDatabase(t, url)
  await postgres.write((tx) => tx.query('UPDATE schema_version SET version = 999'))
  await t.rejects(migratePostgres(postgres), /newer version of Clearwake \(schema version 999/)
})

t.test('finds out whether a change was committed if the response is lost', async (t) => {
  const { postgres, url } = await openStore(t, 'UTC')
  // The connection is lost after the server has executed COMMIT.
  let isCut = false
  const cutting: typeof postgres = {
    ...postgres,
    async write(work) {
      const result = await postgres.write(work)
      if (!isCut) return result
      isCut = false
      throw new CommitUnknownError(new Error('Connection terminated unexpectedly'))
    },
  }
  const store = await openPostgresStore(cutting, url, 'UTC')
  isCut = true
  const created = await store.create(newOrder(), 'ann')
  t.match(created, { outcome: 'created', order: { orderNumber: 'CW-000001' } })
  isCut = true
  const context = { by: 'ann', ifVersions: [1] }
  const changed = await store.apply('1', { type: 'edit', changes: { notes: 'x' } }, context)
  t.match(changed, { outcome: 'changed', order: { version: 2, notes: 'x' } })
  t.match(await postgres.read((tx) => readOrder(tx, 1)), { version: 2 })
  t.equal((await store.getHistory('1'))?.length, 2)
})

t.test('a service with another time zone cannot write', async (t) => {
  const { store, postgres, url } = await openStore(t, 'UTC')
  await openPostgresStore(postgres, url, 'Asia/Tokyo')
  await t.rejects(
    store.create(newOrder(), 'ann'),
    /Another process uses the order database with TIME_ZONE Asia\/Tokyo/,
  )
})

t.test('without PostgreSQL the start fails with a message that has no password', async (t) => {
  const DATABASE_URL = 'postgres://clearwake:secret-of-the-database@127.0.0.1:9/clearwake'
  const failure = await startApp(t, { DATABASE_URL }).catch((error: unknown) => String(error))
  t.match(failure, /PostgreSQL is not available: the connection was refused \(ECONNREFUSED\)/)
  t.notMatch(failure, 'secret-of-the-database')
})

t.test('copies the orders of SQLite with their history, and continues', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'orders.db')
  const sqlite = await openFileStore({ path, timeZone: 'Europe/Lisbon' })
  const context = { by: 'ann', ifVersions: null }
  for (let i = 1; i <= 30; i++) {
    await sqlite.create(newOrder({ customerName: `Ζωή ${i}`, status: 'paid' }), 'ann', `key ${i}`)
    await sqlite.apply(String(i), { type: 'edit', changes: { notes: `note ${i}` } }, context)
  }
  const attempt = {
    state: 'sent',
    reference: 'r',
    by: 'ann',
    sentAt: new Date().toISOString(),
    portfolioId: 1,
    portfolioName: 'Mix',
    tons: 1.6036,
    amountMinor: 3833,
    currency: 'USD',
  } as const
  await sqlite.apply('7', { type: 'attempt', attempt }, context)
  const database = openSqliteDatabase(path)
  const certificate = {
    code: 'c'.repeat(22),
    orderId: '7',
    issuedAt: '2026-11-25T00:00:00.000Z',
    content: {
      beneficiary: 'Ζωή',
      isPublic: true,
      vesselName: null,
      imoNumber: null,
      trip: null,
      co2eKg: 2_000,
      portfolioName: null,
      projects: [],
      provider: null,
    },
  }
  await database.write((tx) => insertCertificate(tx, certificate, 'message'))
  await database.query("INSERT INTO order_links VALUES ('hash', '7', 1)")
  await database.close()
  const url = await server.createDatabase()
  const copy = () => copyOrders({ DATA_DIR: folder, DATABASE_URL: url })
  const first = await copy()
  t.match(first, { code: 0, output: /30 orders copied\. Both databases have the same content/ })

  const postgres = await openDatabase(t, url)
  const store = await openPostgresStore(postgres, url, 'Europe/Lisbon')
  const list = (from: OrderStore) => from.list({}, { sort: 'orderNumber', offset: 0, limit: 100 })
  t.strictSame(await list(store), await list(sqlite))
  t.strictSame(await store.getHistory('7'), await sqlite.getHistory('7'))
  const slice = { sort: 'orderNumber', offset: 0, limit: 9 } as const
  t.match(await store.list({ exception: ['placement_unknown'] }, slice), { total: 1 })
  t.match(await store.list({ q: 'ζωη 12' }, slice), { items: [{ id: '12' }] })
  t.strictSame(await findCertificate(postgres, certificate.code), certificate)
  t.match(await postgres.query('SELECT * FROM order_links'), [{ token_hash: 'hash' }])
  await checkStatistics(store, (await list(sqlite)).items, Date.now())
  t.match(await store.create(newOrder({ customerName: 'Ζωή 3', status: 'paid' }), 'ann', 'key 3'), {
    outcome: 'replayed',
    order: { id: '3' },
  })

  await sqlite.create(newOrder(), 'ann')
  t.match(await copy(), { code: 0, output: /31 orders copied/ })
  t.match(await store.create(newOrder(), 'ann'), { order: { id: '32', orderNumber: 'CW-000032' } })
  t.match(await copy(), { code: 1, errors: /differ from those in SQLite/ })
  await sqlite.close()
})

t.test('migrates by command', async (t) => {
  const environment = { DATABASE_URL: await server.createDatabase(), DATA_DIR: temporaryFolder(t) }
  const run = () => runCommand('db-migrate', [], environment)
  t.match(await run(), {
    code: 0,
    output: new RegExp(`from version 0 to ${POSTGRES_SCHEMA_VERSION}`),
  })
  t.match(await run(), { code: 0, output: /up to date/ })
  t.match(await runCommand('orders-backup', ['x'], environment), { code: 1, errors: /pg_dump/ })
})
