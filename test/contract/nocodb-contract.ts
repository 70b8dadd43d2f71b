import { execFile } from 'node:child_process'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/database/open-database.js'
import { DEFAULT_TITLES } from '../../src/order-store/nocodb/columns.js'
import { createNocoDbClient } from '../../src/order-store/nocodb/nocodb-client.js'
import { createOrdersTable } from '../../src/order-store/nocodb/orders-table.js'
import { openReplica } from '../../src/order-store/nocodb/replica.js'
import { createSyncPasses } from '../../src/order-store/nocodb/sync-pass.js'
import { built } from '../support/built.js'
import { logIn } from '../support/sign-in.js'
import { apiContract } from '../support/api-contract.js'
import { temporaryFolder } from '../support/app.js'
import { faultyProxy, type Fault } from '../support/faulty-proxy.js'
import { startOrderApi, type OrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import type { TestBase, TestNocoDb } from '../support/nocodb.js'
import { until, untilReady } from '../support/until.js'

const ORDERS = '/api/admin/orders'
const COMMAND = built('commands', 'nocodb-setup.js')

/** Longer than the sync interval of these tests, 0.3 s, on a busy machine. */
const SYNC_TIMEOUT_MS = 60_000

/** For sync passes that a test runs itself, ms. */
const OVERLAP_MS = 1_500

const GOOD_ROW = {
  CustomerName: 'Good',
  CustomerEmail: 'good@example.com',
  Co2eKg: 1,
  AmountMinor: 1,
  Currency: 'EUR',
}

const run = promisify(execFile)

/** Runs `npm run nocodb:setup`; returns its output and whether it succeeded. */
async function runSetup(t: Test, environment: Record<string, string>) {
  const env = { PATH: process.env.PATH, ...environment }
  try {
    const { stdout } = await run(process.execPath, [COMMAND], { env, cwd: temporaryFolder(t) })
    return { ok: true, output: stdout }
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return { ok: false, output: stdout + stderr }
  }
}

/** Overwrites the root page of a table in a replica. */
function corruptTable(path: string, table: string): void {
  const db = openDatabase(path)
  const root = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?')
  const page = Number(root.pluck().get(table))
  const bytes = Number(db.pragma('page_size', { simple: true }))
  db.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(bytes, 0xff), 0, bytes, (page - 1) * bytes)
  closeSync(file)
}

/** Makes a replica too large for the integrity check at the start, with an unused table. */
function enlarge(path: string): void {
  const db = openDatabase(path)
  db.exec('CREATE TABLE ballast (bytes BLOB)')
  for (let i = 0; i < 70; i++) db.exec('INSERT INTO ballast VALUES (zeroblob(1048576))')
  db.close()
}

/** Tests of a store in NocoDB, in addition to those of every order store. */
export function nocoDbContract(t: Test, nocoDb: TestNocoDb): void {
  const { api } = nocoDb
  const recordsPath = ({ tableId }: TestBase): string => `/api/v2/tables/${tableId}/records`

  async function startService(
    t: Test,
    base: TestBase,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<OrderApi> {
    const service = await startOrderApi(t, { ...base.environment, ...environment })
    await untilReady(service.url)
    return service
  }

  const listOrders = async ({ call }: OrderApi) => (await call('GET', ORDERS)).body

  t.test('shows an edit made in NocoDB as a new version with its history', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base)
    const { body: created } = await service.call('POST', ORDERS, newOrder({ co2eKg: 0.1234567 }))
    const path = `${ORDERS}/${created.id}`
    await api('PATCH', recordsPath(base), [{ Id: 1, CustomerName: 'Renamed', Status: 'fulfilled' }])
    const edited = await until(async () => {
      const { body } = await service.call('GET', path)
      return body.customerName === 'Renamed' && body
    }, SYNC_TIMEOUT_MS)
    t.match(edited, { status: 'fulfilled', version: 2, co2eKg: 0.1234567 })
    t.equal(edited.fulfilledAt, edited.updatedAt)
    const conflict = await service.call('PATCH', path, { notes: 'x' }, { 'if-match': '"1"' })
    t.equal(conflict.status, 412)

    await until(async () => {
      const { body } = await api('GET', `${recordsPath(base)}/1`)
      return body.Version === 2
    }, SYNC_TIMEOUT_MS)
    await api('PATCH', recordsPath(base), [{ Id: 1, AmountMinor: 1 }])
    await until(async () => (await service.call('GET', path)).body.version === 3, SYNC_TIMEOUT_MS)
    const changed = await service.call('PATCH', path, { notes: 'x' }, { 'if-match': '"3"' })
    t.match(changed.body, { version: 4, amountMinor: 1, notes: 'x', customerName: 'Renamed' })
    const { items } = (await service.call('GET', `${path}/history`)).body
    t.match(items, [
      { by: 'admin@example.com', version: 4, changes: [{ field: 'notes', from: '', to: 'x' }] },
      { by: 'NocoDB', version: 3, changes: [{ field: 'amountMinor', from: 4009, to: 1 }] },
      {
        by: 'NocoDB',
        version: 2,
        changes: [
          { field: 'status', from: 'pending', to: 'fulfilled' },
          { field: 'customerName', from: 'Ann Example', to: 'Renamed' },
        ],
      },
      { by: 'admin@example.com', version: 1, changes: [] },
    ])
  })

  t.test('syncs at the interval, and each sync pass shows the latest changes', async (t) => {
    const base = await nocoDb.createBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await startService(t, base, {
      DATABASE_BASE_URL: proxy.url,
      NOCODB_SYNC_INTERVAL: '1',
    })
    await service.call('POST', ORDERS, newOrder())
    /** When each sync pass requested changes */
    const passes: number[] = []
    let [passesLeft, release] = [Infinity, (): void => undefined]
    proxy.faultOf = async (method, path): Promise<Fault> => {
      if (method !== 'GET' || !/records\?.*UpdatedAt%2Cgte/.test(path)) return 'none'
      passes.push(performance.now())
      if (passesLeft-- > 0) return 'none'
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return 'none'
    }
    await until(async () => passes.length > 10, SYNC_TIMEOUT_MS)
    const intervals = passes.slice(1).map((at, i) => at - (passes[i] ?? 0))
    const median = intervals.sort((a, b) => a - b)[Math.floor(intervals.length / 2)] ?? 0
    t.ok(median > 900 && median < 1_500, `a pass every ${Math.round(median)} ms`)

    const shows = async (notes: string): Promise<boolean> =>
      (await service.call('GET', `${ORDERS}/1`)).body.notes === notes
    for (const notes of ['first', 'second', 'third']) {
      await api('PATCH', recordsPath(base), [{ Id: 1, Notes: notes }])
      // Lets one pass through after the edit; the next one waits until the edit is shown.
      passesLeft = 1
      await until(() => shows(notes), SYNC_TIMEOUT_MS)
      passesLeft = Infinity
      release()
    }
    await api('POST', recordsPath(base), GOOD_ROW)
    passesLeft = 1
    await until(async () => (await listOrders(service)).totalItems === 2, SYNC_TIMEOUT_MS)
    passesLeft = Infinity
    release()
  })

  t.test('does not overwrite an edit that has not been synced yet', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base, { NOCODB_SYNC_INTERVAL: '3600' })
    await service.call('POST', ORDERS, newOrder())
    await api('PATCH', recordsPath(base), [{ Id: 1, CustomerName: 'Renamed' }])
    const path = `${ORDERS}/1`
    t.equal((await service.call('GET', path)).body.customerName, 'Ann Example')
    const conflict = await service.call('PATCH', path, { notes: 'x' }, { 'if-match': '"1"' })
    t.equal(conflict.status, 412)
    const changed = await service.call('PATCH', path, { notes: 'x' })
    t.match(changed.body, { version: 3, customerName: 'Renamed', notes: 'x' })
    t.equal((await service.call('GET', `${path}/history`)).body.items.length, 3)
    const { body: row } = await api('GET', `${recordsPath(base)}/1`)
    t.match(row, { CustomerName: 'Renamed', Notes: 'x', Version: 3, OrderNumber: 'CW-000001' })
  })

  /** Opens a replica whose sync passes the test runs itself, through a proxy. */
  async function openTestReplica(t: Test, base: TestBase) {
    const proxy = await faultyProxy(t, nocoDb.url)
    const client = createNocoDbClient({
      baseUrl: proxy.url,
      token: nocoDb.token,
      requestsPerSecond: 1_000,
    })
    const db = openDatabase(join(temporaryFolder(t), 'replica.db'))
    t.teardown(async () => {
      db.close()
      await client.close()
    })
    const replica = openReplica(db, DEFAULT_TITLES)
    const passes = createSyncPasses({
      table: createOrdersTable(client, { ...base, titles: DEFAULT_TITLES }),
      replica,
      onRowErrors: () => undefined,
      onProgress: () => undefined,
      overlapMs: OVERLAP_MS,
    })
    return { proxy, replica, passes }
  }

  t.test(
    'finds an edit made in the same second as the previous one, also after an outage',
    async (t) => {
      const base = await nocoDb.createBase()
      const { proxy, replica, passes } = await openTestReplica(t, base)
      const edit = async (Notes: string): Promise<string> => {
        await api('PATCH', recordsPath(base), [{ Id: 1, Notes }])
        return (await api('GET', `${recordsPath(base)}/1`)).body.UpdatedAt
      }
      await api('POST', recordsPath(base), GOOD_ROW)
      await passes.load()
      // Two edits in the same second, the second one after the sync pass.
      await until(async () => {
        const first = await edit('first')
        await passes.readChanges()
        return (await edit('second')) === first
      })
      t.equal(replica.get(1)?.notes, 'first')
      proxy.faultOf = () => 'fails'
      await sleep(OVERLAP_MS + 100)
      await t.rejects(passes.readChanges())
      proxy.faultOf = () => 'none'
      await passes.readChanges()
      t.equal(replica.get(1)?.notes, 'second')
    },
  )

  t.test('finds changes despite a wrong clock, at the latest by comparing all rows', async (t) => {
    const base = await nocoDb.createBase()
    const { replica, passes } = await openTestReplica(t, base)
    const edit = (Notes: string) => api('PATCH', recordsPath(base), [{ Id: 1, Notes }])
    await api('POST', recordsPath(base), GOOD_ROW)
    await passes.load()
    await passes.readChanges()
    // A row modified by a clock that is ahead does not hide later changes.
    const tomorrow = String(Date.now() + 86_400_000)
    replica.setSetting('touched', tomorrow)
    await edit('today')
    await passes.readChanges()
    t.equal(replica.get(1)?.notes, 'today')

    // A row modified by a clock that is behind is only found by comparing all rows.
    await sleep(1_100)
    await edit('long ago')
    await api('POST', recordsPath(base), [{ Notes: 'new' }, { Notes: 'new' }])
    await sleep(OVERLAP_MS + 1_100)
    replica.setSetting('touched', tomorrow)
    await passes.readChanges()
    t.equal(replica.get(1)?.notes, 'today')
    await passes.compareAll()
    t.equal(replica.get(1)?.notes, 'long ago')
    t.equal(replica.count(), 3)
    await api('DELETE', recordsPath(base), [{ Id: 2 }])
    t.equal(await passes.compareAll(), 1)
    t.equal(replica.count(), 2)
  })

  t.test('finds rows restored from a backup', async (t) => {
    const base = await nocoDb.createBase()
    const { replica, passes } = await openTestReplica(t, base)
    await api('POST', recordsPath(base), Array(3).fill(GOOD_ROW))
    await passes.load()
    await passes.readChanges()
    await sleep(OVERLAP_MS + 1_100)
    await passes.readChanges()
    // The restored rows are older than the last sync pass; one id is the highest.
    replica.delete([1, 3], performance.now())
    await passes.readChanges()
    t.equal(replica.count(), 1, 'reading changes does not find them')
    await passes.reconcileDeletions()
    t.strictSame([replica.get(1)?.customerName, replica.get(3)?.customerName], ['Good', 'Good'])
    await api('DELETE', recordsPath(base), [{ Id: 2 }])
    t.equal(await passes.reconcileDeletions(), 1)
    t.equal(replica.get(2), null)

    // The replica has a change made after the backup.
    const { body: row } = await api('GET', `${recordsPath(base)}/1`)
    const later = { ...row, CustomerName: 'Lost', UpdatedAt: '2026-01-01 00:00:00+00:00' }
    replica.upsert({ rows: [later], requestedAt: performance.now() })
    replica.setSetting('touched', String(Date.now()))
    await passes.readChanges()
    t.equal(replica.get(1)?.customerName, 'Lost')
    passes.markUncertain()
    await passes.readChanges()
    t.equal(replica.get(1)?.customerName, 'Good', 'a backup may be restored during an outage')
  })

  t.test('creates one order if two processes use the same key concurrently', async (t) => {
    const base = await nocoDb.createBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const environment = { ...base.environment, DATABASE_BASE_URL: proxy.url }
    const first = await startService(t, { ...base, environment })
    const second = await startService(t, { ...base, environment })
    // Neither process creates its order before both have checked the key.
    let creating = 0
    proxy.faultOf = async (method): Promise<Fault> => {
      if (method === 'POST') {
        creating++
        await until(async () => creating === 2)
      }
      return 'none'
    }
    const responses = await Promise.all(
      [first, second].map(({ call }) =>
        call('POST', ORDERS, newOrder(), { 'idempotency-key': 'one order' }),
      ),
    )
    t.strictSame(
      responses.map(({ status }) => status),
      [201, 201],
    )
    t.equal(responses[0]?.body.id, responses[1]?.body.id)
    const { body: rows } = await api('GET', recordsPath(base))
    t.equal(rows.pageInfo.totalRows, 1)
    for (const service of [first, second]) {
      await until(async () => (await listOrders(service)).totalItems === 1, SYNC_TIMEOUT_MS)
    }
  })

  t.test('shows rows created in NocoDB and hides deleted ones', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base)
    const rows = Array.from({ length: 5 }, (_, i) => ({
      CustomerName: `Customer ${i}`,
      CustomerEmail: 'c@example.com',
      Co2eKg: 12.5,
      AmountMinor: 100,
      Currency: 'EUR',
    }))
    await api('POST', recordsPath(base), rows)
    const list = await until(async () => {
      const orders = await listOrders(service)
      return orders.totalItems === 5 && orders
    }, SYNC_TIMEOUT_MS)
    t.match(list.items[0], {
      orderNumber: 'CW-000005',
      status: 'pending',
      version: 1,
      co2eKg: 12.5,
    })
    t.equal(list.items[0].placedAt, list.items[0].createdAt)
    const history = await service.call('GET', `${ORDERS}/5/history`)
    t.match(history.body.items, [{ by: 'NocoDB', version: 1 }])
    const changed = await service.call('PATCH', `${ORDERS}/5`, { status: 'paid' })
    t.match(changed.body, { version: 2, status: 'paid' })

    await api('DELETE', recordsPath(base), [{ Id: 2 }, { Id: 4 }])
    await until(async () => (await listOrders(service)).totalItems === 3, SYNC_TIMEOUT_MS)
    t.equal((await service.call('GET', `${ORDERS}/2`)).status, 404)
    t.equal((await service.call('PATCH', `${ORDERS}/4`, { notes: 'x' })).status, 404)
    const stats = await service.call('POST', '/api/admin/stats', { range: 'all' })
    t.match(stats.body, { orders: 3, co2eKg: 37.5, revenue: [{ amountMinor: 300 }] })
  })

  t.test('skips and reports rows that are not valid orders', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base)
    const rows = [
      {},
      { ...GOOD_ROW, CustomerName: null },
      { ...GOOD_ROW, Currency: 'XYZ' },
      { ...GOOD_ROW, Co2eKg: -5 },
      { ...GOOD_ROW, AmountMinor: -1 },
      { ...GOOD_ROW, Version: -3, Record: 'garbage', WriteToken: 'x' },
      { ...GOOD_ROW, Record: '{"order":{},"by":"me","history":[]}' },
      { ...GOOD_ROW, CustomerName: 'Bell\u0007 and\ttab', CustomerEmail: 'not an address' },
      { ...GOOD_ROW, ImoNumber: '123', CalculatorType: 'fuel', CalculatorData: '{broken' },
      { ...GOOD_ROW, OrderNumber: 'CW-000006' },
      { ...GOOD_ROW, Notes: 'n'.repeat(20_000) },
    ]
    for (const row of rows) {
      const { status } = await api('POST', recordsPath(base), row)
      t.equal(status, 200)
    }
    const list = await until(async () => {
      const orders = (await service.call('GET', `${ORDERS}?sort=orderNumber`)).body
      return orders.totalItems === 6 && orders
    }, SYNC_TIMEOUT_MS)
    t.strictSame(
      list.items.map(({ id, orderNumber, customerName, customerEmail, imoNumber, notes }: any) => [
        ...[id, orderNumber, customerName, customerEmail, imoNumber, notes],
      ]),
      [
        ['6', 'CW-000006', 'Good', 'good@example.com', null, ''],
        ['10', 'CW-000006-10', 'Good', 'good@example.com', null, ''],
        ['7', 'CW-000007', 'Good', 'good@example.com', null, ''],
        ['8', 'CW-000008', 'Bell  and tab', 'not an address', null, ''],
        ['9', 'CW-000009', 'Good', 'good@example.com', null, ''],
        ['11', 'CW-000011', 'Good', 'good@example.com', null, ''],
      ],
    )
    const ready = await until(async () => {
      const { body } = await service.call('GET', '/readyz')
      return body.checks.orders.detail.includes('5 rows skipped') && body
    }, SYNC_TIMEOUT_MS)
    t.match(ready.checks.orders.detail, /row 2: CustomerName is empty/)
    t.match(ready.checks.orders.detail, /row 3: Currency is not an ISO 4217 code/)
    const logged = service.log.filter(({ row }) => row === 3)
    t.equal(logged.length, 1, 'logs it once')

    const corrected = await service.call('PATCH', `${ORDERS}/8`, {
      customerEmail: 'ok@example.com',
    })
    t.match(corrected.body, { version: 2, customerName: 'Bell  and tab' })
    const { body: row } = await api('GET', `${recordsPath(base)}/8`)
    t.equal(row.CustomerName, 'Bell\u0007 and\ttab', 'unchanged cells keep their values')
    await service.call('PATCH', `${ORDERS}/9`, { notes: 'seen' })
    t.match(await api('GET', `${recordsPath(base)}/9`), {
      body: { ImoNumber: '123', Notes: 'seen' },
    })
    await api('PATCH', recordsPath(base), [{ Id: 2, CustomerName: 'Now complete' }])
    await until(async () => (await listOrders(service)).totalItems === 7, SYNC_TIMEOUT_MS)
  })

  t.test('keeps the replica across restarts, and recreates it for another base', async (t) => {
    const [base, other] = [await nocoDb.createBase(), await nocoDb.createBase()]
    const DATA_DIR = temporaryFolder(t)
    const first = await startService(t, base, { DATA_DIR })
    await first.call('POST', ORDERS, newOrder({ customerName: 'In the first base' }))
    const countLoads = ({ log }: OrderApi) =>
      log.filter(({ msg }) => msg === 'loading orders from NocoDB').length
    t.equal(countLoads(first), 1)
    await first.app.close()
    await api('PATCH', recordsPath(base), [{ Id: 1, Notes: 'while stopped' }])
    await api('POST', recordsPath(base), { CustomerName: 'incomplete' })

    const again = await startService(t, base, { DATA_DIR })
    t.equal((await listOrders(again)).totalItems, 1)
    await until(async () => {
      const { body } = await again.call('GET', `${ORDERS}/1`)
      return body.notes === 'while stopped'
    }, SYNC_TIMEOUT_MS)
    t.equal(countLoads(again), 0)
    await again.app.close()

    const moved = await startService(t, other, { DATA_DIR })
    t.equal((await listOrders(moved)).totalItems, 0)
    t.equal(countLoads(moved), 1)
  })

  t.test('recreates a replica that is found to be corrupt', async (t) => {
    const base = await nocoDb.createBase()
    const DATA_DIR = temporaryFolder(t)
    const first = await startService(t, base, { DATA_DIR })
    for (const customerName of ['Ann', 'Ben']) {
      await first.call('POST', ORDERS, newOrder({ customerName }))
    }
    await until(async () => (await listOrders(first)).totalItems === 2)
    await first.app.close()
    const path = join(DATA_DIR, 'replica.db')
    const isCorruptionLogged = ({ log }: OrderApi): boolean =>
      log.some(({ msg }) => String(msg).startsWith('the replica is corrupt'))
    async function untilRecreated(service: OrderApi): Promise<void> {
      await until(async () => {
        // Checked first, because reads before the detection use the corrupt replica.
        const wasDetected = isCorruptionLogged(service)
        const { status, body } = await service.call('GET', ORDERS)
        if (status !== 200 && status !== 503) t.fail(`${status} ${body.detail}`)
        return wasDetected && status === 200 && body.totalItems === 2
      }, SYNC_TIMEOUT_MS)
      const changed = await service.call('PATCH', `${ORDERS}/1`, { notes: `${Math.random()}` })
      t.equal(changed.body.notes.slice(0, 2), '0.')
      t.match((await service.call('GET', '/readyz')).body.checks.orders, { ready: true })
    }
    // The integrity check of a large replica detects it without a read.
    for (const table of ['ballast', 'orders']) {
      enlarge(path)
      corruptTable(path, table)
      const service = await startService(t, base, { DATA_DIR })
      await untilRecreated(service)
      t.ok(statSync(path).size < 8 * 1024 * 1024, 'the corrupt file is deleted')
      await service.app.close()
    }
    // Otherwise a read or a write detects it.
    for (const table of ['orders', 'replica_rows']) {
      const service = await startService(t, base, { DATA_DIR })
      t.notOk(isCorruptionLogged(service))
      corruptTable(path, table)
      if (table === 'replica_rows') await api('POST', recordsPath(base), {})
      await untilRecreated(service)
      await service.app.close()
    }
  })

  t.test('gives each process in a data folder its own replica', async (t) => {
    const base = await nocoDb.createBase()
    const DATA_DIR = temporaryFolder(t)
    const first = await startService(t, base, { DATA_DIR })
    const second = await startService(t, base, { DATA_DIR })
    await first.call('POST', ORDERS, newOrder())
    await until(async () => (await listOrders(second)).totalItems === 1, SYNC_TIMEOUT_MS)
  })

  t.test('reports the progress of the first load without blocking requests', async (t) => {
    const base = await nocoDb.createBase()
    const rows = Array.from({ length: 100 }, (_, i) => ({
      CustomerName: `Customer ${i}`,
      CustomerEmail: 'c@example.com',
      Co2eKg: 1,
      AmountMinor: 1,
      Currency: 'EUR',
    }))
    for (let i = 0; i < 25; i++) await api('POST', recordsPath(base), rows)
    const service = await startOrderApi(t, {
      ...base.environment,
      NOCODB_REQUESTS_PER_SECOND: '2',
    })
    const seen = new Set<string>()
    let slowest = 0
    await until(async () => {
      const startedAt = performance.now()
      const rejected = await service.call('GET', ORDERS)
      slowest = Math.max(slowest, performance.now() - startedAt)
      if (rejected.status === 200) return true
      t.equal(rejected.status, 503)
      t.ok(rejected.headers.get('retry-after'))
      seen.add(rejected.body.detail)
      const { checks } = (await service.call('GET', '/readyz')).body
      seen.add(checks.orders.detail)
      return false
    })
    t.match([...seen].join(), /1,000 of 2,500/)
    t.match([...seen].join(), /orders are loading from NocoDB/)
    t.ok(slowest < 3_000, `the slowest response took ${slowest} ms`)
    t.equal((await listOrders(service)).totalItems, 2_500)

    await api('DELETE', recordsPath(base), [{ Id: 700 }, { Id: 2_100 }])
    await until(async () => (await listOrders(service)).totalItems === 2_498, SYNC_TIMEOUT_MS)
    t.equal((await service.call('GET', `${ORDERS}/700`)).status, 404)
    t.equal((await service.call('GET', `${ORDERS}/2100`)).status, 404)
  })

  t.test('documents every response with the Orders-As-Of header', async (t) => {
    const service = await startService(t, await nocoDb.createBase())
    const document = service.app.swagger()
    const contract = apiContract(document)
    const { body: order } = await service.call('POST', ORDERS, newOrder())
    const token = await logIn(service.url)
    const found = new Set<string>()
    for (const [path, methods] of Object.entries(document.paths ?? {})) {
      for (const method of Object.keys(methods ?? {}).map((name) => name.toUpperCase())) {
        if (!path.startsWith('/api/admin') || path.endsWith('/logout')) continue
        // The second id does not exist, to include error responses.
        for (const id of [String(order.id), '77']) {
          const address = path.replace('{id}', id)
          const sent = path.endsWith('/stats') ? { range: '7d' } : newOrder()
          const body = method === 'GET' || method === 'DELETE' ? null : JSON.stringify(sent)
          const response = await fetch(service.url + address, {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              ...(body === null ? {} : { 'content-type': 'application/json' }),
            },
            body,
          })
          contract.check(method, address, {
            status: response.status,
            headers: Object.fromEntries(response.headers),
            body: Buffer.from(await response.arrayBuffer()),
          })
          if (response.headers.has('orders-as-of')) found.add(`${method} ${path}`)
        }
      }
    }
    t.strictSame(
      [...found].sort(),
      [
        'DELETE /api/admin/orders/{id}',
        'GET /api/admin/orders',
        'GET /api/admin/orders/export',
        'GET /api/admin/orders/{id}',
        'GET /api/admin/orders/{id}/history',
        'PATCH /api/admin/orders/{id}',
        'POST /api/admin/orders',
        'POST /api/admin/stats',
      ],
      'all routes that return orders',
    )
  })

  t.test('setup creates a table in an empty base and is idempotent', async (t) => {
    const baseId = await nocoDb.createEmptyBase()
    const environment = {
      DATABASE_BASE_URL: nocoDb.url,
      DATABASE_BASE_ID: baseId,
      DATABASE_API_KEY: nocoDb.token,
    }
    const first = await runSetup(t, environment)
    t.match(first, { ok: true, output: /Created the table/ })
    const id = /DATABASE_ORDERS_TABLE_ID=(\w+)/.exec(first.output)?.[1] ?? ''
    const again = await runSetup(t, environment)
    t.match(again, { ok: true, output: `DATABASE_ORDERS_TABLE_ID=${id}` })
    t.notMatch(again.output, /Created|Added/)
    const named = await runSetup(t, { ...environment, DATABASE_ORDERS_TABLE_ID: id })
    t.notMatch(named.output, /Created|Added/)
    const wrong = await runSetup(t, { ...environment, DATABASE_API_KEY: 'a-wrong-token' })
    t.match(wrong, { ok: false, output: /rejected the API token/ })
    t.notMatch(wrong.output, 'a-wrong-token')
    t.match(await runSetup(t, { DATABASE_BASE_ID: baseId }), {
      ok: false,
      output: /DATABASE_BASE_URL is required[\s\S]*DATABASE_API_KEY is required/,
    })
  })

  t.test('reports missing columns of an existing table, which setup adds', async (t) => {
    const baseId = await nocoDb.createEmptyBase()
    const { body: table } = await api('POST', `/api/v3/meta/bases/${baseId}/tables`, {
      title: 'Our orders',
      fields: [
        { title: 'Customer', type: 'SingleLineText' },
        { title: 'Price', type: 'Number' },
        {
          title: 'Status',
          type: 'SingleSelect',
          options: { choices: [{ title: 'pending' }, { title: 'shipped' }] },
        },
        { title: 'Notes', type: 'Number' },
      ],
    })
    const base: TestBase = {
      baseId,
      tableId: table.id,
      environment: {
        DATABASE_BASE_URL: nocoDb.url,
        DATABASE_BASE_ID: baseId,
        DATABASE_API_KEY: nocoDb.token,
        DATABASE_ORDERS_TABLE_ID: table.id,
        NOCODB_COLUMNS: 'customerName=Customer,amountMinor=Price',
        NOCODB_SYNC_INTERVAL: '0.3',
        NOCODB_REQUESTS_PER_SECOND: '1000',
      },
    }
    await api('POST', recordsPath(base), { Customer: 'Old customer', Price: 7, Status: 'shipped' })

    const service = await startOrderApi(t, base.environment)
    const unready = await until(async () => {
      const { body } = await service.call('GET', '/readyz')
      return (
        body.checks.orders.detail.includes('schema of the orders table in NocoDB is invalid') &&
        body
      )
    }, SYNC_TIMEOUT_MS)
    t.equal(unready.checks.orders.ready, false)
    t.match(unready.checks.orders.detail, /CustomerEmail is missing/)
    t.match(unready.checks.orders.detail, /Notes is of type Number; it must be LongText/)
    t.match(unready.checks.orders.detail, /Status is missing the options paid/)
    t.equal(service.log.filter(({ column }) => column === 'CustomerEmail').length, 1)
    t.equal((await service.call('POST', ORDERS, newOrder())).status, 503)

    const incomplete = await runSetup(t, base.environment)
    t.match(incomplete, { ok: false, output: /Notes is of type Number/ })
    t.match(incomplete.output, /Added the column CustomerEmail \(Email\)/)
    t.match(incomplete.output, /Added the options paid, .* to the column Status/)
    const complete = {
      ...base.environment,
      NOCODB_COLUMNS: 'customerName=Customer,amountMinor=Price,notes=Remarks',
    }
    t.match(await runSetup(t, complete), { ok: true, output: /Added the column Remarks/ })

    const fixed = await startService(t, { ...base, environment: complete })
    const { body: order } = await fixed.call('POST', ORDERS, newOrder({ notes: 'here' }))
    const { body: row } = await api('GET', `${recordsPath(base)}/${order.id}`)
    t.match(row, { Customer: 'Ann Example', Price: 4009, Remarks: 'here', Status: 'pending' })
    const { checks } = (await fixed.call('GET', '/readyz')).body
    t.match(checks.orders, { ready: true, detail: /row 1: Status is not one of/ })
  })

  /** Deletes a column, as a user may. */
  async function deleteColumn({ baseId, tableId }: TestBase, title: string): Promise<void> {
    const meta = `/api/v3/meta/bases/${baseId}`
    const { body } = await api('GET', `${meta}/tables/${tableId}`)
    const { id } = body.fields.find((field: any) => field.title === title)
    t.equal((await api('DELETE', `${meta}/fields/${id}`)).status, 200)
  }

  t.test('rejects a write if a column is missing, whose value NocoDB would drop', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base, { NOCODB_SYNC_INTERVAL: '3600' })
    await service.call('POST', ORDERS, newOrder())
    await deleteColumn(base, 'Notes')
    for (const [method, path, body] of [
      ['PATCH', `${ORDERS}/1`, { notes: 'x', vesselName: 'Aurora' }],
      ['POST', ORDERS, newOrder()],
    ] as const) {
      const rejected = await service.call(method, path, body)
      t.equal(rejected.status, 503, method)
      t.match(rejected.body.detail, /Nothing was saved. A column is missing/)
    }
    const { body: rows } = await api('GET', recordsPath(base))
    t.match(rows.list, [{ Id: 1, Version: 1, VesselName: null }])
    t.equal(rows.list.length, 1)
    t.ok((await runSetup(t, base.environment)).ok)
    t.equal((await service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })).body.notes, 'x')
  })

  t.test('rejects changes while a column is missing, and shows its lost values', async (t) => {
    const base = await nocoDb.createBase()
    const DATA_DIR = temporaryFolder(t)
    const service = await startService(t, base, { DATA_DIR })
    await service.call('POST', ORDERS, newOrder({ notes: 'kept in the column' }))
    // Waits until sync passes do not read the order again anyway.
    await sleep(17_000)
    await service.call('POST', ORDERS, newOrder())
    const createdAt = Date.now()
    await until(async () => {
      const { headers } = await service.call('GET', ORDERS)
      return Date.parse(headers.get('orders-as-of') ?? '') > createdAt
    }, SYNC_TIMEOUT_MS)
    await deleteColumn(base, 'Notes')
    await until(async () => {
      const { body } = await service.call('GET', '/readyz')
      return body.checks.orders.detail.includes('Notes is missing')
    }, SYNC_TIMEOUT_MS)
    const rejected = await service.call('PATCH', `${ORDERS}/1`, { vesselName: 'Aurora' })
    t.equal(rejected.status, 503)
    t.match(rejected.body.detail, /Nothing was saved. The schema .* is invalid \(Notes is missing/)
    t.equal((await service.call('GET', `${ORDERS}/1`)).body.notes, 'kept in the column')
    await service.app.close()
    t.ok((await runSetup(t, base.environment)).ok)
    const again = await startService(t, base, { DATA_DIR })
    await until(
      async () => (await again.call('GET', `${ORDERS}/1`)).body.notes === '',
      SYNC_TIMEOUT_MS,
    )
  })

  t.test('reports access errors without the token', async (t) => {
    const base = await nocoDb.createBase()
    const cases = [
      [{ DATABASE_API_KEY: 'a-wrong-token' }, /rejected the API token/],
      [{ DATABASE_BASE_ID: 'pnothinghere' }, /base or table not found/],
      [{ DATABASE_ORDERS_TABLE_ID: 'mnothinghere' }, /base or table not found/],
      [{ DATABASE_BASE_URL: 'http://127.0.0.1:1' }, /cannot be reached/],
      [{ DATABASE_BASE_URL: `${nocoDb.url}/nowhere` }, /not from NocoDB|not found/],
    ] as const
    for (const [wrong, message] of cases) {
      const service = await startOrderApi(t, { ...base.environment, ...wrong })
      const { checks } = await until(async () => {
        const { body } = await service.call('GET', '/readyz')
        return body.checks.orders.detail.includes('Loading is interrupted') && body
      }, SYNC_TIMEOUT_MS)
      t.equal(checks.orders.ready, false)
      t.match(checks.orders.detail, message)
      const written = await service.call('POST', ORDERS, newOrder())
      t.equal(written.status, 503)
      const texts = JSON.stringify([service.log, checks, written.body])
      t.notMatch(texts, nocoDb.token)
      t.notMatch(texts, 'a-wrong-token')
    }
  })
}
