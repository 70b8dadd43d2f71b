import type { Test } from 'tap'
import { apiContract } from '../support/api-contract.js'
import { temporaryFolder } from '../support/app.js'
import { faultyProxy, type Fault } from '../support/faulty-proxy.js'
import {
  getRecordsPath,
  GOOD_ROW,
  listOrders,
  ORDERS,
  startService,
  SYNC_TIMEOUT_MS,
} from '../support/nocodb-service.js'
import type { TestNocoDb } from '../support/nocodb.js'
import { startOrderApi, type OrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { signIn } from '../support/sign-in.js'
import { waitFor } from '../support/wait-for.js'

/** Tests of the mirror of orders in NocoDB. */
export function nocoDbMirrorContract(t: Test, nocoDb: TestNocoDb): void {
  const { api } = nocoDb

  t.test('does not overwrite an edit that has not been synced yet', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base, { NOCODB_SYNC_INTERVAL: '3600' })
    await service.call('POST', ORDERS, newOrder())
    await api('PATCH', getRecordsPath(base), [{ Id: 1, CustomerName: 'Renamed' }])
    const path = `${ORDERS}/1`
    t.equal((await service.call('GET', path)).body.customerName, 'Ann Example')
    const conflict = await service.call('PATCH', path, { notes: 'x' }, { 'if-match': '"1"' })
    t.equal(conflict.status, 412)
    const changed = await service.call('PATCH', path, { notes: 'x' })
    t.match(changed.body, { version: 3, customerName: 'Renamed', notes: 'x' })
    t.equal((await service.call('GET', `${path}/history`)).body.items.length, 3)
    const { body: row } = await api('GET', `${getRecordsPath(base)}/1`)
    t.match(row, { CustomerName: 'Renamed', Notes: 'x', Version: 3, OrderNumber: 'CW-000001' })
  })

  t.test('creates one order if two processes use the same key concurrently', async (t) => {
    const base = await nocoDb.createBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const environment = { ...base.environment, DATABASE_BASE_URL: proxy.url }
    const first = await startService(t, { ...base, environment })
    const second = await startService(t, { ...base, environment })
    // Neither process creates its order before both have checked the key.
    let creating = 0
    proxy.getFault = async (method): Promise<Fault> => {
      if (method === 'POST') {
        creating++
        await waitFor(async () => creating === 2)
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
    const { body: rows } = await api('GET', getRecordsPath(base))
    t.equal(rows.pageInfo.totalRows, 1)
    for (const service of [first, second]) {
      await waitFor(async () => (await listOrders(service)).totalItems === 1, SYNC_TIMEOUT_MS)
    }
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
      const { status } = await api('POST', getRecordsPath(base), row)
      t.equal(status, 200)
    }
    const list = await waitFor(async () => {
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
    const ready = await waitFor(async () => {
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
    const { body: row } = await api('GET', `${getRecordsPath(base)}/8`)
    t.equal(row.CustomerName, 'Bell\u0007 and\ttab', 'unchanged cells keep their values')
    await service.call('PATCH', `${ORDERS}/9`, { notes: 'seen' })
    t.match(await api('GET', `${getRecordsPath(base)}/9`), {
      body: { ImoNumber: '123', Notes: 'seen' },
    })
    await api('PATCH', getRecordsPath(base), [{ Id: 2, CustomerName: 'Now complete' }])
    await waitFor(async () => (await listOrders(service)).totalItems === 7, SYNC_TIMEOUT_MS)
  })

  t.test('keeps the orders across restarts, and none of another base', async (t) => {
    const [base, other] = [await nocoDb.createBase(), await nocoDb.createBase()]
    const DATA_DIR = temporaryFolder(t)
    const first = await startService(t, base, { DATA_DIR })
    await first.call('POST', ORDERS, newOrder({ customerName: 'In the first base' }))
    const countLoads = ({ log }: OrderApi) =>
      log.filter(({ msg }) => msg === 'loading orders from NocoDB').length
    t.equal(countLoads(first), 1)
    await first.app.close()
    await api('PATCH', getRecordsPath(base), [{ Id: 1, Notes: 'while stopped' }])
    await api('POST', getRecordsPath(base), { CustomerName: 'incomplete' })

    const again = await startService(t, base, { DATA_DIR })
    t.equal((await listOrders(again)).totalItems, 1)
    await waitFor(async () => {
      const { body } = await again.call('GET', `${ORDERS}/1`)
      return body.notes === 'while stopped'
    }, SYNC_TIMEOUT_MS)
    t.equal(countLoads(again), 0)
    await again.app.close()

    const refused = startOrderApi(t, { ...other.environment, DATA_DIR })
    await t.rejects(refused, {
      message: new RegExp(`another table in NocoDB: base ${base.baseId}.*Set another DATA_DIR`),
    })
    await t.rejects(startOrderApi(t, { DATA_DIR }), {
      message: /the orders of a table in NocoDB.*Set the NocoDB variables back/,
    })
    const unchanged = await startService(t, base, { DATA_DIR })
    t.equal((await listOrders(unchanged)).totalItems, 1)
  })

  t.test('does not start with a database that has orders of its own', async (t) => {
    const base = await nocoDb.createBase()
    const DATA_DIR = temporaryFolder(t)
    const own = await startOrderApi(t, { DATA_DIR })
    await own.call('POST', ORDERS, newOrder())
    await own.app.close()
    await t.rejects(startOrderApi(t, { ...base.environment, DATA_DIR }), {
      message: /orders of its own.*Set another DATA_DIR or DATABASE_URL/,
    })
    const again = await startOrderApi(t, { DATA_DIR })
    t.equal((await listOrders(again)).totalItems, 1)
  })

  t.test('reports the progress of the first load without blocking requests', async (t) => {
    const base = await nocoDb.createBase()
    for (let i = 0; i < 25; i++) await api('POST', getRecordsPath(base), Array(100).fill(GOOD_ROW))
    const service = await startOrderApi(t, {
      ...base.environment,
      NOCODB_REQUESTS_PER_SECOND: '2',
    })
    const toVisibleText = new Set<string>()
    let slowest = 0
    await waitFor(async () => {
      const startedAt = performance.now()
      const rejected = await service.call('GET', ORDERS)
      slowest = Math.max(slowest, performance.now() - startedAt)
      if (rejected.status === 200) return true
      t.equal(rejected.status, 503)
      t.ok(rejected.headers.get('retry-after'))
      toVisibleText.add(rejected.body.detail)
      const { checks } = (await service.call('GET', '/readyz')).body
      toVisibleText.add(checks.orders.detail)
      return false
    })
    t.match([...toVisibleText].join(), /1,000 of 2,500/)
    t.match([...toVisibleText].join(), /orders are loading from NocoDB/)
    t.ok(slowest < 3_000, `the slowest response took ${slowest} ms`)
    t.equal((await listOrders(service)).totalItems, 2_500)

    await api('DELETE', getRecordsPath(base), [{ Id: 700 }, { Id: 2_100 }])
    await waitFor(async () => (await listOrders(service)).totalItems === 2_498, SYNC_TIMEOUT_MS)
    t.equal((await service.call('GET', `${ORDERS}/700`)).status, 404)
    t.equal((await service.call('GET', `${ORDERS}/2100`)).status, 404)
  })

  t.test('documents every response with the Orders-As-Of header', async (t) => {
    const service = await startService(t, await nocoDb.createBase())
    const document = service.app.swagger()
    const contract = apiContract(document)
    const { body: order } = await service.call('POST', ORDERS, newOrder())
    const token = await signIn(service.url)
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
        'POST /api/admin/orders/{id}/recalculate',
        'POST /api/admin/stats',
      ],
      'all routes that return orders',
    )
  })
}
