import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openPostgres } from '../../src/database/postgres.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import type { Order } from '../../src/orders/order.js'
import { temporaryFolder } from '../support/app.js'
import { downgradeStore } from '../support/downgrade-store.js'
import {
  getRecordsPath,
  GOOD_ROW,
  listOrders,
  ORDERS,
  readRows,
  startService as startInProcess,
  SYNC_TIMEOUT_MS,
} from '../support/nocodb-service.js'
import { startNocoDb } from '../support/nocodb.js'
import { newOrder } from '../support/order-store.js'
import { startPostgres } from '../support/postgres.js'
import { startService, type Service } from '../support/service.js'
import { signIn } from '../support/sign-in.js'
import { waitFor, waitUntilReady } from '../support/wait-for.js'

/* Two processes that share a mirror in PostgreSQL, and the first start after an upgrade. */

const nocoDb = await startNocoDb(t)
const server = await startPostgres(t)

const createCall = async ({ url }: Service) => {
  const authorization = `Bearer ${await signIn(url)}`
  return async (method: string, path: string, body?: unknown, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const json: any = await response.json()
    return { status: response.status, body: json }
  }
}

/** Starts two processes, of which the first one syncs, and records all events. */
async function startPair(t: Test) {
  const base = await nocoDb.createBase()
  const DATABASE_URL = await server.createDatabase()
  const environment = { ...base.environment, DATABASE_URL }
  const first = await startService(t, environment)
  await waitUntilReady(first.url)
  const second = await startService(t, environment)
  await waitUntilReady(second.url)
  const database = openPostgres(DATABASE_URL, { poolSize: 1 })
  t.teardown(() => database.close())
  await database.query('CREATE TABLE recorded (data TEXT)')
  await database.query(
    'CREATE RULE record AS ON INSERT TO order_events DO ALSO INSERT INTO recorded VALUES (NEW.order_data)',
  )
  return {
    base,
    first,
    second,
    calls: [await createCall(first), await createCall(second)] as const,
    /** The versions of an order that had an event, in the order of the events. */
    readVersions: async (id: string): Promise<number[]> => {
      const rows = await database.query<{ data: string }>('SELECT data FROM recorded')
      const orders = rows.map(({ data }) => JSON.parse(data) as Order)
      return orders
        .filter((order) => order.id === id)
        .map(({ version }) => version)
        .sort((a, b) => a - b)
    },
  }
}

t.test('16 writers in two processes lose no update, and each event is recorded once', async (t) => {
  const { base, calls, readVersions } = await startPair(t)
  const [call] = calls
  const ids: string[] = []
  for (let i = 0; i < 4; i++) {
    const created = await call('POST', ORDERS, newOrder({ amountMinor: 0 }))
    ids.push(String(created.body.id))
  }
  const increments = new Map(ids.map((id) => [id, 0]))

  /** Adds 1 to the amount of an order, again after a conflict. */
  async function increment(index: number, id: string): Promise<void> {
    const callProcess = calls[index % 2] ?? call
    await waitFor(async () => {
      const { body } = await callProcess('GET', `${ORDERS}/${id}`)
      const changes = { amountMinor: Number(body.amountMinor) + 1 }
      const ifMatch = { 'if-match': `"${body.version}"` }
      const { status } = await callProcess('PATCH', `${ORDERS}/${id}`, changes, ifMatch)
      if (status === 200) increments.set(id, (increments.get(id) ?? 0) + 1)
      else if (status !== 412 && status !== 503) t.fail(`status ${status}`)
      return status === 200
    })
  }
  await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      for (let i = 0; i < 3; i++) await increment(writer, ids[(writer + i) % ids.length] ?? '1')
    }),
  )
  const rows = await readRows(nocoDb, base)
  for (const id of ids) {
    const expected = increments.get(id) ?? 0
    const row = rows.find(({ Id }) => String(Id) === id)
    t.match(row, { AmountMinor: expected, Version: expected + 1 }, 'in NocoDB')
    for (const callProcess of calls) {
      const { body } = await callProcess('GET', `${ORDERS}/${id}`)
      t.match(body, { amountMinor: expected, version: expected + 1 }, 'in both processes')
    }
    const versions = Array.from({ length: expected + 1 }, (_, i) => i + 1)
    t.strictSame(await readVersions(id), versions, 'each version has one event')
  }
})

t.test('an edit made in NocoDB becomes a version once', async (t) => {
  const { base, calls, readVersions } = await startPair(t)
  const [call] = calls
  const { body: order } = await call('POST', ORDERS, newOrder())
  await nocoDb.api('PATCH', getRecordsPath(base), [{ Id: Number(order.id), Notes: 'by hand' }])
  for (const callProcess of calls) {
    await waitFor(async () => {
      const { body } = await callProcess('GET', `${ORDERS}/${order.id}`)
      return body.notes === 'by hand' && body.version === 2
    }, SYNC_TIMEOUT_MS)
  }
  await sleep(2_000)
  t.match(await call('GET', `${ORDERS}/${order.id}`), { body: { version: 2 } })
  t.match(await readRows(nocoDb, base), [{ Version: 2 }])
  t.strictSame(await readVersions(String(order.id)), [1, 2])
  const { body: history } = await call('GET', `${ORDERS}/${order.id}/history`)
  t.match(history.items, [{ by: 'NocoDB', version: 2 }, { version: 1 }])
})

t.test('the other process syncs after the one that syncs is killed, or stops', async (t) => {
  const { base, first, second, calls } = await startPair(t)
  const countOrders = async () => (await calls[1]('GET', ORDERS)).body.totalItems as number
  first.process.kill('SIGKILL')
  await nocoDb.api('POST', getRecordsPath(base), GOOD_ROW)
  const killedAt = performance.now()
  await waitFor(async () => (await countOrders()) === 1, 30_000)
  t.comment(`took over after ${Math.round(performance.now() - killedAt)} ms`)

  const third = await startService(t, {
    ...base.environment,
    DATABASE_URL: await server.createDatabase(),
  })
  await waitUntilReady(third.url)
  third.process.kill('SIGTERM')
  t.equal(await third.ended, 0, 'stops')
  second.process.kill('SIGTERM')
  t.equal(await second.ended, 0, 'stops')
})

t.test('loads the orders of an installation that kept them in replica.db', async (t) => {
  const base = await nocoDb.createBase()
  await nocoDb.api('POST', getRecordsPath(base), [GOOD_ROW, GOOD_ROW])
  const DATA_DIR = temporaryFolder(t)
  const path = join(DATA_DIR, 'orders.db')
  const before = openSqliteDatabase(path)
  await before.query(`INSERT INTO certificates VALUES ('code', '1', 'message', '{}', 0)`)
  await before.query(
    `INSERT INTO payments VALUES ('pay', '1', 1, 'paid', 1, 'EUR', NULL, NULL, 0, NULL, NULL, 0, 0, 0, NULL, 1)`,
  )
  await before.close()
  downgradeStore(path, 22)
  const replica = join(DATA_DIR, 'replica.db')
  writeFileSync(replica, 'of the version before')

  const service = await startInProcess(t, base, { DATA_DIR })
  t.equal((await listOrders(service)).totalItems, 2)
  const { database } = service.app
  t.match(await database.query('SELECT code, order_id FROM certificates'), [
    { code: 'code', order_id: '1' },
  ])
  t.match(await service.call('GET', `${ORDERS}/1/payments`), { body: { items: [{ id: 'pay' }] } })
  t.strictSame(await database.query('SELECT type FROM outbox'), [], 'has no events')
  t.match(
    service.log.filter(({ path: logged }) => logged === replica),
    [{ msg: /no longer used/ }],
    'named once',
  )
})
