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

/** Longer than the interval of these tests, 0.3 s, and than a busy machine takes. */
const SOON_MS = 60_000

/** So long before the last change copies kept by hand ask again, ms. */
const OVERLAP_MS = 1_500

const GOOD_ROW = {
  CustomerName: 'Good',
  CustomerEmail: 'good@example.com',
  Co2eKg: 1,
  AmountMinor: 1,
  Currency: 'EUR',
}

const run = promisify(execFile)

/** Runs the command; what it prints on either output, and whether it went well. */
async function setUp(t: Test, environment: Record<string, string>) {
  const env = { PATH: process.env.PATH, ...environment }
  try {
    const { stdout } = await run(process.execPath, [COMMAND], { env, cwd: temporaryFolder(t) })
    return { ok: true, output: stdout }
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return { ok: false, output: stdout + stderr }
  }
}

/** Overwrites part of a table in a copy. */
function damage(path: string, table: string): void {
  const db = openDatabase(path)
  const root = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?')
  const page = Number(root.pluck().get(table))
  const bytes = Number(db.pragma('page_size', { simple: true }))
  db.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(bytes, 0xff), 0, bytes, (page - 1) * bytes)
  closeSync(file)
}

/** Makes a copy larger than is looked through before it is opened, by a table that nobody reads. */
function enlarge(path: string): void {
  const db = openDatabase(path)
  db.exec('CREATE TABLE ballast (bytes BLOB)')
  for (let i = 0; i < 70; i++) db.exec('INSERT INTO ballast VALUES (zeroblob(1048576))')
  db.close()
}

/** What holds of orders in NocoDB besides the contract of orders. */
export function nocoDbContract(t: Test, nocoDb: TestNocoDb): void {
  const { api } = nocoDb
  const records = ({ tableId }: TestBase): string => `/api/v2/tables/${tableId}/records`

  async function start(
    t: Test,
    base: TestBase,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<OrderApi> {
    const service = await startOrderApi(t, { ...base.environment, ...environment })
    await untilReady(service.url)
    return service
  }

  const ordersIn = async ({ call }: OrderApi) => (await call('GET', ORDERS)).body

  t.test('an edit made in NocoDB shows soon, as a version with its history', async (t) => {
    const base = await nocoDb.ordersBase()
    const service = await start(t, base)
    const { body: created } = await service.call('POST', ORDERS, newOrder({ co2eKg: 0.1234567 }))
    const path = `${ORDERS}/${created.id}`
    await api('PATCH', records(base), [{ Id: 1, CustomerName: 'Renamed', Status: 'fulfilled' }])
    const edited = await until(async () => {
      const { body } = await service.call('GET', path)
      return body.customerName === 'Renamed' && body
    }, SOON_MS)
    t.match(edited, { status: 'fulfilled', version: 2, co2eKg: 0.1234567 })
    t.equal(edited.fulfilledAt, edited.updatedAt)
    const stale = await service.call('PATCH', path, { notes: 'x' }, { 'if-match': '"1"' })
    t.equal(stale.status, 412)

    await until(async () => {
      const { body } = await api('GET', `${records(base)}/1`)
      return body.Version === 2
    }, SOON_MS)
    await api('PATCH', records(base), [{ Id: 1, AmountMinor: 1 }])
    await until(async () => (await service.call('GET', path)).body.version === 3, SOON_MS)
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

  t.test('NocoDB is asked in the interval, and the next ask shows what was changed', async (t) => {
    const base = await nocoDb.ordersBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await start(t, base, {
      DATABASE_BASE_URL: proxy.url,
      NOCODB_SYNC_INTERVAL: '1',
    })
    await service.call('POST', ORDERS, newOrder())
    /** When what was changed was asked for */
    const asks: number[] = []
    let [left, release] = [Infinity, (): void => undefined]
    proxy.faultOf = async (method, path): Promise<Fault> => {
      if (method !== 'GET' || !/records\?.*UpdatedAt%2Cgte/.test(path)) return 'none'
      asks.push(performance.now())
      if (left-- > 0) return 'none'
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return 'none'
    }
    await until(async () => asks.length > 10, SOON_MS)
    const pauses = asks.slice(1).map((at, i) => at - (asks[i] ?? 0))
    const median = pauses.sort((a, b) => a - b)[Math.floor(pauses.length / 2)] ?? 0
    t.ok(median > 900 && median < 1_500, `asked every ${Math.round(median)} ms`)

    const shows = async (notes: string): Promise<boolean> =>
      (await service.call('GET', `${ORDERS}/1`)).body.notes === notes
    for (const notes of ['first', 'second', 'third']) {
      await api('PATCH', records(base), [{ Id: 1, Notes: notes }])
      // One ask that comes after the edit passes. Any further one waits until the edit shows.
      left = 1
      await until(() => shows(notes), SOON_MS)
      left = Infinity
      release()
    }
    await api('POST', records(base), GOOD_ROW)
    left = 1
    await until(async () => (await ordersIn(service)).totalItems === 2, SOON_MS)
    left = Infinity
    release()
  })

  t.test('an edit that the copy has not seen yet is neither overwritten nor lost', async (t) => {
    const base = await nocoDb.ordersBase()
    const service = await start(t, base, { NOCODB_SYNC_INTERVAL: '3600' })
    await service.call('POST', ORDERS, newOrder())
    await api('PATCH', records(base), [{ Id: 1, CustomerName: 'Renamed' }])
    const path = `${ORDERS}/1`
    t.equal((await service.call('GET', path)).body.customerName, 'Ann Example')
    const stale = await service.call('PATCH', path, { notes: 'x' }, { 'if-match': '"1"' })
    t.equal(stale.status, 412)
    const changed = await service.call('PATCH', path, { notes: 'x' })
    t.match(changed.body, { version: 3, customerName: 'Renamed', notes: 'x' })
    t.equal((await service.call('GET', `${path}/history`)).body.items.length, 3)
    const { body: row } = await api('GET', `${records(base)}/1`)
    t.match(row, { CustomerName: 'Renamed', Notes: 'x', Version: 3, OrderNumber: 'CW-000001' })
  })

  /** A copy that is kept by hand, through a proxy. */
  async function copyByHand(t: Test, base: TestBase) {
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
    const copy = openReplica(db, DEFAULT_TITLES)
    const passes = createSyncPasses({
      table: createOrdersTable(client, { ...base, titles: DEFAULT_TITLES }),
      replica: copy,
      onFaults: () => undefined,
      onProgress: () => undefined,
      overlapMs: OVERLAP_MS,
    })
    return { proxy, copy, passes }
  }

  t.test('an edit in the second of the one before is seen, also after an outage', async (t) => {
    const base = await nocoDb.ordersBase()
    const { proxy, copy, passes } = await copyByHand(t, base)
    const edit = async (Notes: string): Promise<string> => {
      await api('PATCH', records(base), [{ Id: 1, Notes }])
      return (await api('GET', `${records(base)}/1`)).body.UpdatedAt
    }
    await api('POST', records(base), GOOD_ROW)
    await passes.load()
    // Edits of one second: the first is seen, the second comes right after.
    await until(async () => {
      const first = await edit('first')
      await passes.changes()
      return (await edit('second')) === first
    })
    t.equal(copy.get(1)?.notes, 'first')
    proxy.faultOf = () => 'fails'
    await sleep(OVERLAP_MS + 100)
    await t.rejects(passes.changes())
    proxy.faultOf = () => 'none'
    await passes.changes()
    t.equal(copy.get(1)?.notes, 'second')
  })

  t.test('a change is seen though a clock was wrong, at the latest by comparing all', async (t) => {
    const base = await nocoDb.ordersBase()
    const { copy, passes } = await copyByHand(t, base)
    const edit = (Notes: string) => api('PATCH', records(base), [{ Id: 1, Notes }])
    await api('POST', records(base), GOOD_ROW)
    await passes.load()
    await passes.changes()
    // A row that was touched by a clock that was ahead hides none of those touched now.
    const tomorrow = String(Date.now() + 86_400_000)
    copy.set('touched', tomorrow)
    await edit('today')
    await passes.changes()
    t.equal(copy.get(1)?.notes, 'today')

    // What was touched by a clock that was behind is found by no faster way.
    await sleep(1_100)
    await edit('long ago')
    await api('POST', records(base), [{ Notes: 'new' }, { Notes: 'new' }])
    await sleep(OVERLAP_MS + 1_100)
    copy.set('touched', tomorrow)
    await passes.changes()
    t.equal(copy.get(1)?.notes, 'today')
    await passes.compareAll()
    t.equal(copy.get(1)?.notes, 'long ago')
    t.equal(copy.count(), 3)
    await api('DELETE', records(base), [{ Id: 2 }])
    t.equal(await passes.compareAll(), 1)
    t.equal(copy.count(), 2)
  })

  t.test('rows that NocoDB has again, as from a back-up, come back with their state', async (t) => {
    const base = await nocoDb.ordersBase()
    const { copy, passes } = await copyByHand(t, base)
    await api('POST', records(base), Array(3).fill(GOOD_ROW))
    await passes.load()
    await passes.changes()
    await sleep(OVERLAP_MS + 1_100)
    await passes.changes()
    // Their times are older than all that is asked for, among the others and behind them.
    copy.takeOut([1, 3], performance.now())
    await passes.changes()
    t.equal(copy.count(), 1, 'which shows nothing of them')
    await passes.evenOut()
    t.strictSame([copy.get(1)?.customerName, copy.get(3)?.customerName], ['Good', 'Good'])
    await api('DELETE', records(base), [{ Id: 2 }])
    t.equal(await passes.evenOut(), 1)
    t.equal(copy.get(2), null)

    // A change that came after the back-up is in the copy only.
    const { body: row } = await api('GET', `${records(base)}/1`)
    const later = { ...row, CustomerName: 'Lost', UpdatedAt: '2026-01-01 00:00:00+00:00' }
    copy.takeIn({ rows: [later], askedAt: performance.now() })
    copy.set('touched', String(Date.now()))
    await passes.changes()
    t.equal(copy.get(1)?.customerName, 'Lost')
    passes.doubt()
    await passes.changes()
    t.equal(copy.get(1)?.customerName, 'Good', 'after an outage it is looked for')
  })

  t.test('of two processes that enter an order with one key at once, one does', async (t) => {
    const base = await nocoDb.ordersBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const environment = { ...base.environment, DATABASE_BASE_URL: proxy.url }
    const first = await start(t, { ...base, environment })
    const second = await start(t, { ...base, environment })
    // Both have found that there is none before either enters one.
    let entering = 0
    proxy.faultOf = async (method): Promise<Fault> => {
      if (method === 'POST') {
        entering++
        await until(async () => entering === 2)
      }
      return 'none'
    }
    const answers = await Promise.all(
      [first, second].map(({ call }) =>
        call('POST', ORDERS, newOrder(), { 'idempotency-key': 'one order' }),
      ),
    )
    t.strictSame(
      answers.map(({ status }) => status),
      [201, 201],
    )
    t.equal(answers[0]?.body.id, answers[1]?.body.id)
    const { body: rows } = await api('GET', records(base))
    t.equal(rows.pageInfo.totalRows, 1)
    for (const service of [first, second]) {
      await until(async () => (await ordersIn(service)).totalItems === 1, SOON_MS)
    }
  })

  t.test('rows entered and deleted in NocoDB come and go soon', async (t) => {
    const base = await nocoDb.ordersBase()
    const service = await start(t, base)
    const rows = Array.from({ length: 5 }, (_, i) => ({
      CustomerName: `Customer ${i}`,
      CustomerEmail: 'c@example.com',
      Co2eKg: 12.5,
      AmountMinor: 100,
      Currency: 'EUR',
    }))
    await api('POST', records(base), rows)
    const list = await until(async () => {
      const orders = await ordersIn(service)
      return orders.totalItems === 5 && orders
    }, SOON_MS)
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

    await api('DELETE', records(base), [{ Id: 2 }, { Id: 4 }])
    await until(async () => (await ordersIn(service)).totalItems === 3, SOON_MS)
    t.equal((await service.call('GET', `${ORDERS}/2`)).status, 404)
    t.equal((await service.call('PATCH', `${ORDERS}/4`, { notes: 'x' })).status, 404)
    const stats = await service.call('POST', '/api/admin/stats', { range: 'all' })
    t.match(stats.body, { orders: 3, co2eKg: 37.5, revenue: [{ amountMinor: 300 }] })
  })

  t.test('a row that is no order is left out and named, and stops nothing', async (t) => {
    const base = await nocoDb.ordersBase()
    const service = await start(t, base)
    const good = GOOD_ROW
    const rows = [
      {},
      { ...good, CustomerName: null },
      { ...good, Currency: 'XYZ' },
      { ...good, Co2eKg: -5 },
      { ...good, AmountMinor: -1 },
      { ...good, Version: -3, Record: 'garbage', WriteToken: 'x' },
      { ...good, Record: '{"order":{},"by":"me","history":[]}' },
      { ...good, CustomerName: 'Bell\u0007 and\ttab', CustomerEmail: 'not an address' },
      { ...good, ImoNumber: '123', CalculatorType: 'fuel', CalculatorData: '{broken' },
      { ...good, OrderNumber: 'CW-000006' },
      { ...good, Notes: 'n'.repeat(20_000) },
    ]
    for (const row of rows) {
      const { status } = await api('POST', records(base), row)
      t.equal(status, 200)
    }
    const list = await until(async () => {
      const orders = (await service.call('GET', `${ORDERS}?sort=orderNumber`)).body
      return orders.totalItems === 6 && orders
    }, SOON_MS)
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
      return body.checks.orders.detail.includes('5 rows left out') && body
    }, SOON_MS)
    t.match(ready.checks.orders.detail, /row 2: CustomerName is empty/)
    t.match(ready.checks.orders.detail, /row 3: Currency is not an ISO 4217 code/)
    const named = service.log.filter(({ row }) => row === 3)
    t.equal(named.length, 1, 'once in the log')

    const mended = await service.call('PATCH', `${ORDERS}/8`, { customerEmail: 'ok@example.com' })
    t.match(mended.body, { version: 2, customerName: 'Bell  and tab' })
    const { body: row } = await api('GET', `${records(base)}/8`)
    t.equal(row.CustomerName, 'Bell\u0007 and\ttab', 'what was not changed stays as it was')
    await service.call('PATCH', `${ORDERS}/9`, { notes: 'seen' })
    t.match(await api('GET', `${records(base)}/9`), { body: { ImoNumber: '123', Notes: 'seen' } })
    await api('PATCH', records(base), [{ Id: 2, CustomerName: 'Now complete' }])
    await until(async () => (await ordersIn(service)).totalItems === 7, SOON_MS)
  })

  t.test('a copy is kept over a restart, and made anew for another base', async (t) => {
    const [base, other] = [await nocoDb.ordersBase(), await nocoDb.ordersBase()]
    const DATA_DIR = temporaryFolder(t)
    const first = await start(t, base, { DATA_DIR })
    await first.call('POST', ORDERS, newOrder({ customerName: 'In the first base' }))
    const loads = ({ log }: OrderApi) =>
      log.filter(({ msg }) => msg === 'loading orders from NocoDB').length
    t.equal(loads(first), 1)
    await first.app.close()
    await api('PATCH', records(base), [{ Id: 1, Notes: 'while nobody looked' }])
    await api('POST', records(base), { CustomerName: 'incomplete' })

    const again = await start(t, base, { DATA_DIR })
    t.equal((await ordersIn(again)).totalItems, 1)
    await until(async () => {
      const { body } = await again.call('GET', `${ORDERS}/1`)
      return body.notes === 'while nobody looked'
    }, SOON_MS)
    t.equal(loads(again), 0)
    await again.app.close()

    const moved = await start(t, other, { DATA_DIR })
    t.equal((await ordersIn(moved)).totalItems, 0)
    t.equal(loads(moved), 1)
  })

  t.test('a copy that is found damaged later is made anew by itself', async (t) => {
    const base = await nocoDb.ordersBase()
    const DATA_DIR = temporaryFolder(t)
    const first = await start(t, base, { DATA_DIR })
    for (const customerName of ['Ann', 'Ben']) {
      await first.call('POST', ORDERS, newOrder({ customerName }))
    }
    await until(async () => (await ordersIn(first)).totalItems === 2)
    await first.app.close()
    const path = join(DATA_DIR, 'replica.db')
    const isMadeAnew = ({ log }: OrderApi): boolean =>
      log.some(({ msg }) => String(msg).startsWith('the copy of the orders is damaged'))
    async function untilMadeAnew(service: OrderApi): Promise<void> {
      await until(async () => {
        // Asked first: what is read before the damage is found comes from the old one.
        const wasFound = isMadeAnew(service)
        const { status, body } = await service.call('GET', ORDERS)
        if (status !== 200 && status !== 503) t.fail(`${status} ${body.detail}`)
        return wasFound && status === 200 && body.totalItems === 2
      }, SOON_MS)
      const changed = await service.call('PATCH', `${ORDERS}/1`, { notes: `${Math.random()}` })
      t.equal(changed.body.notes.slice(0, 2), '0.')
      t.match((await service.call('GET', '/readyz')).body.checks.orders, { ready: true })
    }
    // Where nobody reads, the thread that looks through all of a large copy finds it.
    for (const table of ['ballast', 'orders']) {
      enlarge(path)
      damage(path, table)
      const service = await start(t, base, { DATA_DIR })
      await untilMadeAnew(service)
      t.ok(statSync(path).size < 8 * 1024 * 1024, 'the old one is gone')
      await service.app.close()
    }
    // Else whoever reads or writes does.
    for (const table of ['orders', 'replica_rows']) {
      const service = await start(t, base, { DATA_DIR })
      t.notOk(isMadeAnew(service))
      damage(path, table)
      if (table === 'replica_rows') await api('POST', records(base), {})
      await untilMadeAnew(service)
      await service.app.close()
    }
  })

  t.test('two processes in one data folder have a copy each', async (t) => {
    const base = await nocoDb.ordersBase()
    const DATA_DIR = temporaryFolder(t)
    const first = await start(t, base, { DATA_DIR })
    const second = await start(t, base, { DATA_DIR })
    await first.call('POST', ORDERS, newOrder())
    await until(async () => (await ordersIn(second)).totalItems === 1, SOON_MS)
  })

  t.test('many orders are loaded with their progress told, and nothing else waits', async (t) => {
    const base = await nocoDb.ordersBase()
    const rows = Array.from({ length: 100 }, (_, i) => ({
      CustomerName: `Customer ${i}`,
      CustomerEmail: 'c@example.com',
      Co2eKg: 1,
      AmountMinor: 1,
      Currency: 'EUR',
    }))
    for (let i = 0; i < 25; i++) await api('POST', records(base), rows)
    const service = await startOrderApi(t, {
      ...base.environment,
      NOCODB_REQUESTS_PER_SECOND: '2',
    })
    const seen = new Set<string>()
    let slowest = 0
    await until(async () => {
      const begun = performance.now()
      const refused = await service.call('GET', ORDERS)
      slowest = Math.max(slowest, performance.now() - begun)
      if (refused.status === 200) return true
      t.equal(refused.status, 503)
      t.ok(refused.headers.get('retry-after'))
      seen.add(refused.body.detail)
      const { checks } = (await service.call('GET', '/readyz')).body
      seen.add(checks.orders.detail)
      return false
    })
    t.match([...seen].join(), /1,000 of 2,500/)
    t.match([...seen].join(), /the orders are being taken in from NocoDB/)
    t.ok(slowest < 3_000, `the slowest answer took ${slowest} ms`)
    t.equal((await ordersIn(service)).totalItems, 2_500)

    await api('DELETE', records(base), [{ Id: 700 }, { Id: 2_100 }])
    await until(async () => (await ordersIn(service)).totalItems === 2_498, SOON_MS)
    t.equal((await service.call('GET', `${ORDERS}/700`)).status, 404)
    t.equal((await service.call('GET', `${ORDERS}/2100`)).status, 404)
  })

  t.test('every answer that tells how old the orders are is documented to', async (t) => {
    const service = await start(t, await nocoDb.ordersBase())
    const document = service.app.swagger()
    const contract = apiContract(document)
    const { body: order } = await service.call('POST', ORDERS, newOrder())
    const token = await logIn(service.url)
    const telling = new Set<string>()
    for (const [path, methods] of Object.entries(document.paths ?? {})) {
      for (const method of Object.keys(methods ?? {}).map((name) => name.toUpperCase())) {
        if (!path.startsWith('/api/admin') || path.endsWith('/logout')) continue
        // Well and wrong, so that errors are among the answers.
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
          if (response.headers.has('orders-as-of')) telling.add(`${method} ${path}`)
        }
      }
    }
    t.strictSame(
      [...telling].sort(),
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
      'all that tell of orders',
    )
  })

  t.test('set-up makes a table in an empty base, and again changes nothing', async (t) => {
    const baseId = await nocoDb.emptyBase()
    const environment = {
      DATABASE_BASE_URL: nocoDb.url,
      DATABASE_BASE_ID: baseId,
      DATABASE_API_KEY: nocoDb.token,
    }
    const first = await setUp(t, environment)
    t.match(first, { ok: true, output: /Made the table/ })
    const id = /DATABASE_ORDERS_TABLE_ID=(\w+)/.exec(first.output)?.[1] ?? ''
    const again = await setUp(t, environment)
    t.match(again, { ok: true, output: `DATABASE_ORDERS_TABLE_ID=${id}` })
    t.notMatch(again.output, /Made|Added/)
    const named = await setUp(t, { ...environment, DATABASE_ORDERS_TABLE_ID: id })
    t.notMatch(named.output, /Made|Added/)
    const wrong = await setUp(t, { ...environment, DATABASE_API_KEY: 'a-wrong-token' })
    t.match(wrong, { ok: false, output: /refuses the token/ })
    t.notMatch(wrong.output, 'a-wrong-token')
    t.match(await setUp(t, { DATABASE_BASE_ID: baseId }), {
      ok: false,
      output: /DATABASE_BASE_URL must be set[\s\S]*DATABASE_API_KEY must be set/,
    })
  })

  t.test('a table of people that lacks columns is told of, mended and used', async (t) => {
    const baseId = await nocoDb.emptyBase()
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
    await api('POST', records(base), { Customer: 'Old customer', Price: 7, Status: 'shipped' })

    const service = await startOrderApi(t, base.environment)
    const unready = await until(async () => {
      const { body } = await service.call('GET', '/readyz')
      return body.checks.orders.detail.includes('does not fit') && body
    }, SOON_MS)
    t.equal(unready.checks.orders.ready, false)
    t.match(unready.checks.orders.detail, /CustomerEmail is missing/)
    t.match(unready.checks.orders.detail, /Notes is of type Number; it must be LongText/)
    t.match(unready.checks.orders.detail, /Status lacks the options paid/)
    t.equal(service.log.filter(({ column }) => column === 'CustomerEmail').length, 1)
    t.equal((await service.call('POST', ORDERS, newOrder())).status, 503)

    const half = await setUp(t, base.environment)
    t.match(half, { ok: false, output: /Notes is of type Number/ })
    t.match(half.output, /Added the column CustomerEmail \(Email\)/)
    t.match(half.output, /Added the options paid, .* to the column Status/)
    const whole = {
      ...base.environment,
      NOCODB_COLUMNS: 'customerName=Customer,amountMinor=Price,notes=Remarks',
    }
    t.match(await setUp(t, whole), { ok: true, output: /Added the column Remarks/ })

    const mended = await start(t, { ...base, environment: whole })
    const { body: order } = await mended.call('POST', ORDERS, newOrder({ notes: 'here' }))
    const { body: row } = await api('GET', `${records(base)}/${order.id}`)
    t.match(row, { Customer: 'Ann Example', Price: 4009, Remarks: 'here', Status: 'pending' })
    const { checks } = (await mended.call('GET', '/readyz')).body
    t.match(checks.orders, { ready: true, detail: /row 1: Status is not one of/ })
  })

  /** Takes a column out of a table, as people may. */
  async function deleteColumn({ baseId, tableId }: TestBase, title: string): Promise<void> {
    const meta = `/api/v3/meta/bases/${baseId}`
    const { body } = await api('GET', `${meta}/tables/${tableId}`)
    const { id } = body.fields.find((field: any) => field.title === title)
    t.equal((await api('DELETE', `${meta}/fields/${id}`)).status, 200)
  }

  t.test('what NocoDB would drop with a column that is gone is refused whole', async (t) => {
    const base = await nocoDb.ordersBase()
    const service = await start(t, base, { NOCODB_SYNC_INTERVAL: '3600' })
    await service.call('POST', ORDERS, newOrder())
    await deleteColumn(base, 'Notes')
    for (const [method, path, body] of [
      ['PATCH', `${ORDERS}/1`, { notes: 'x', vesselName: 'Aurora' }],
      ['POST', ORDERS, newOrder()],
    ] as const) {
      const refused = await service.call(method, path, body)
      t.equal(refused.status, 503, method)
      t.match(refused.body.detail, /nothing was changed. The table lacks a column/)
    }
    const { body: rows } = await api('GET', records(base))
    t.match(rows.list, [{ Id: 1, Version: 1, VesselName: null }])
    t.equal(rows.list.length, 1)
    t.ok((await setUp(t, base.environment)).ok)
    t.equal((await service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })).body.notes, 'x')
  })

  t.test('while a column is gone changes hear so, and what went with it is seen', async (t) => {
    const base = await nocoDb.ordersBase()
    const DATA_DIR = temporaryFolder(t)
    const service = await start(t, base, { DATA_DIR })
    await service.call('POST', ORDERS, newOrder({ notes: 'kept in the column' }))
    // The latest changes are read anew in any case: this is to be none of them any more.
    await sleep(17_000)
    await service.call('POST', ORDERS, newOrder())
    const enteredAt = Date.now()
    await until(async () => {
      const { headers } = await service.call('GET', ORDERS)
      return Date.parse(headers.get('orders-as-of') ?? '') > enteredAt
    }, SOON_MS)
    await deleteColumn(base, 'Notes')
    await until(async () => {
      const { body } = await service.call('GET', '/readyz')
      return body.checks.orders.detail.includes('Notes is missing')
    }, SOON_MS)
    const refused = await service.call('PATCH', `${ORDERS}/1`, { vesselName: 'Aurora' })
    t.equal(refused.status, 503)
    t.match(refused.body.detail, /nothing was changed. The orders table .* not fit \(Notes is miss/)
    t.equal((await service.call('GET', `${ORDERS}/1`)).body.notes, 'kept in the column')
    await service.app.close()
    t.ok((await setUp(t, base.environment)).ok)
    const again = await start(t, base, { DATA_DIR })
    await until(async () => (await again.call('GET', `${ORDERS}/1`)).body.notes === '', SOON_MS)
  })

  t.test('what is wrong with the access to NocoDB is told, and the token is not', async (t) => {
    const base = await nocoDb.ordersBase()
    const cases = [
      [{ DATABASE_API_KEY: 'a-wrong-token' }, /refuses the token/],
      [{ DATABASE_BASE_ID: 'pnothinghere' }, /no such base or table/],
      [{ DATABASE_ORDERS_TABLE_ID: 'mnothinghere' }, /no such base or table/],
      [{ DATABASE_BASE_URL: 'http://127.0.0.1:1' }, /cannot be reached/],
      [{ DATABASE_BASE_URL: `${nocoDb.url}/nowhere` }, /not NocoDB|no such/],
    ] as const
    for (const [wrong, said] of cases) {
      const service = await startOrderApi(t, { ...base.environment, ...wrong })
      const { checks } = await until(async () => {
        const { body } = await service.call('GET', '/readyz')
        return body.checks.orders.detail.includes('since then') && body
      }, SOON_MS)
      t.equal(checks.orders.ready, false)
      t.match(checks.orders.detail, said)
      const written = await service.call('POST', ORDERS, newOrder())
      t.equal(written.status, 503)
      const told = JSON.stringify([service.log, checks, written.body])
      t.notMatch(told, nocoDb.token)
      t.notMatch(told, 'a-wrong-token')
    }
  })
}
