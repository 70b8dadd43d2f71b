import t from 'tap'
import { getCertificateNumber } from '../../src/certificates/certificate.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { ORDER_STATUSES } from '../../src/orders/order-status.js'
import { byField, ordersContract } from '../contract/order-store-contract.js'
import { temporaryFolder } from '../support/app.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { signIn } from '../support/sign-in.js'
import { checkStore } from '../support/store-check.js'

const ORDERS = '/api/admin/orders'

ordersContract(t, {
  createEnvironment: async (t) => ({ DATA_DIR: temporaryFolder(t) }),
  check: ({ DATA_DIR = '' }) => checkStore(getDatabasePath(DATA_DIR)),
})

t.test('rejects a malformed If-Match with 400 and other ETags with 412', async (t) => {
  const { call } = await startOrderApi(t)
  await call('POST', ORDERS, newOrder())
  const getDetail = async (ifMatch: string, expected: number) => {
    const headers = { 'if-match': ifMatch }
    const { status, body } = await call('PATCH', `${ORDERS}/1`, { notes: 'x' }, headers)
    t.equal(status, expected, ifMatch)
    return body.detail as string
  }
  const malformed = ['1', 'nonsense', '', ' ', ',', '"1', '1"', '"1" "2"', '"1", nonsense']
  for (const wrong of [...malformed, '*, "1"', 'w/"1"']) {
    t.match(await getDetail(wrong, 400), /ETags in quotes, .* such as "4"/, wrong)
  }
  for (const foreign of ['"0"', '"01"', '"2"', '"nonsense"', '""', 'W/"2"', '"0", W/"3"']) {
    t.match(await getDetail(foreign, 412), /its current ETag is "1"/, foreign)
  }
  for (const method of ['PATCH', 'DELETE']) {
    const headers = { 'if-match': '"1"' }
    const change = method === 'PATCH' ? { notes: '' } : undefined
    t.equal((await call(method, `${ORDERS}/2`, change, headers)).status, 404, method)
  }
  const deleted = await call('DELETE', `${ORDERS}/1`, undefined, { 'if-match': '1' })
  t.equal(deleted.status, 400)
  t.match((await call('GET', `${ORDERS}/1`)).body, { version: 1, notes: '' })
})

t.test('names repeated parameters and invalid values of lists', async (t) => {
  const { call } = await startOrderApi(t)
  const ONE_STATUS = `must be one of ${ORDER_STATUSES.join(', ')}`
  const requests: [query: string, errors: Record<string, string>][] = [
    ['page=1&page=2', { page: 'is given twice; it is allowed once' }],
    ['sort=status&sort=status&sort=x', { sort: 'is given 3 times; it is allowed once' }],
    ['q=a&q=%00', { q: 'is given twice; it is allowed once' }],
    ['from=2026-01-01&from=x', { from: 'is given twice; it is allowed once' }],
    ['currency=EUR&currency=USD', { currency: 'is given twice; it is allowed once' }],
    ['status=lost', { status: ONE_STATUS }],
    ['status=', { status: ONE_STATUS }],
    ['status=paid&status=lost&status=gone', { status: ONE_STATUS }],
    ['calculatorType=x', { calculatorType: 'must be one of fuel, distance, custom' }],
    ['limit=1&limit=2', { limit: 'is not a known field' }],
    ['page=x', { page: 'must be a whole number' }],
  ]
  for (const [query, errors] of requests) {
    const { status, body } = await call('GET', `${ORDERS}?${query}`)
    t.equal(status, 422, query)
    t.strictSame(byField(body), errors)
    const [[field, message] = []] = Object.entries(errors)
    t.equal(body.detail, `${field} ${message}.`)
  }
})

t.test(
  'a filter accepts as many values as there are statuses, and removes duplicates from links',
  async (t) => {
    const { call } = await startOrderApi(t)
    const six = 'status=paid&'.repeat(6)
    const { status, headers } = await call('GET', `${ORDERS}?${six}`)
    t.equal(status, 200)
    t.ok((headers.get('link') ?? '').length < 500)
    for (const path of [ORDERS, `${ORDERS}/export`]) {
      const rejected = await call(
        'GET',
        `${path}?${six}status=paid&${'calculatorType=fuel&'.repeat(4)}`,
      )
      t.equal(rejected.status, 422)
      t.strictSame(byField(rejected.body), {
        status: 'is given 7 times; it is allowed at most 6 times',
        calculatorType: 'is given 4 times; it is allowed at most 3 times',
      })
    }
  },
)

t.test('describes the expected type of a value', async (t) => {
  const { call } = await startOrderApi(t)
  const getErrors = async (path: string, body: unknown) => {
    const { status, body: problem } = await call(
      path === `${ORDERS}/1` ? 'PATCH' : 'POST',
      path,
      body,
    )
    t.equal(status, 422)
    return byField(problem)
  }
  const five = {
    status:
      'must be one of pending, paid, processing, fulfilled, refunded; use DELETE to cancel an order',
    customerName: 'must be text',
    customerEmail: 'must be text',
    vesselName: 'must be text or null',
    imoNumber: 'must be text or null',
    calculatorType: 'must be one of fuel, distance, custom, or null',
    calculatorData: 'must be an object or null',
    currency: 'must be text',
    orderSourceId: 'must be text or null',
    notes: 'must be text',
    placedAt: 'must be text',
  }
  const allFive = Object.fromEntries(Object.keys(five).map((field) => [field, 5]))
  const numbers = { co2eKg: 'must be a number', amountMinor: 'must be a whole number' }
  t.strictSame(await getErrors(ORDERS, { ...allFive, co2eKg: '5', amountMinor: [5, 6] }), {
    ...five,
    ...numbers,
  })
  const fixed = 'cannot be changed'
  t.strictSame(await getErrors(`${ORDERS}/1`, { ...allFive, version: 5, id: '5', x: 5 }), {
    ...five,
    calculatorType: fixed,
    calculatorData: fixed,
    placedAt: fixed,
    version: fixed,
    id: fixed,
    x: 'is not a known field',
  })
  t.strictSame(await getErrors('/api/admin/stats', { range: 7 }), {
    range: 'must be one of 7d, 30d, 90d, all, custom',
  })
  t.strictSame(await getErrors('/api/admin/login', { email: null, password: 5 }), {
    email: 'must be text',
    password: 'must be text',
  })
  t.strictSame(
    await getErrors(ORDERS, { ...newOrder(), calculatorType: 'fuel', calculatorData: 'x' }),
    { calculatorData: 'must be an object or null' },
  )
})

t.test('while the database is locked, edits fail with 503 and orders can be read', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const { call, log } = await startOrderApi(t, { DATA_DIR })
  await call('POST', ORDERS, newOrder())
  const { default: Database } = await import('better-sqlite3')
  const other = new Database(getDatabasePath(DATA_DIR))
  other.exec('BEGIN IMMEDIATE')
  const rejected = await call('PATCH', `${ORDERS}/1`, { notes: 'x' })
  t.equal(rejected.status, 503)
  t.ok(Number(rejected.headers.get('retry-after')) > 0)
  t.strictSame(
    log
      .filter(({ level }) => Number(level) > 30)
      .map(({ level, detail, err }) => [level, detail, err]),
    [[40, rejected.body.detail, undefined]],
    'the log has one entry',
  )
  t.equal((await call('GET', `${ORDERS}/1`)).body.notes, '')
  other.close()
  t.equal((await call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status, 200)
})

t.test(
  'lists and changes no orders while another process uses a different TIME_ZONE',
  async (t) => {
    const DATA_DIR = temporaryFolder(t)
    const { call } = await startOrderApi(t, { DATA_DIR, TIME_ZONE: 'Asia/Tokyo' })
    await call('POST', ORDERS, newOrder({ placedAt: '2026-03-01T20:00:00Z' }))
    const day = `${ORDERS}?from=2026-03-02&to=2026-03-02`
    const requests: [method: string, path: string, body?: unknown][] = [
      ['GET', day],
      ['GET', `${ORDERS}?q=ann`],
      ['GET', `${ORDERS}/export?from=2026-03-02`],
      ['POST', '/api/admin/stats', { range: 'all' }],
      ['POST', ORDERS, newOrder()],
      ['PATCH', `${ORDERS}/1`, { notes: 'x' }],
      ['DELETE', `${ORDERS}/1`],
    ]
    const other = await startOrderApi(t, { DATA_DIR, TIME_ZONE: 'Europe/Lisbon' })
    const reason =
      'Another process uses the order database with TIME_ZONE Europe/Lisbon, this one with Asia/Tokyo: set the same TIME_ZONE for all processes.'
    for (const [method, path, body] of requests) {
      const response = await call(method, path, body)
      t.match(response, { status: 503, body: { status: 503, detail: reason } }, `${method} ${path}`)
      t.equal(response.headers.get('content-type'), 'application/problem+json')
    }
    for (const path of [`${ORDERS}/1`, `${ORDERS}/1/history`]) {
      t.equal((await call('GET', path)).status, 200, 'an order does not depend on the days')
    }
    t.match(await call('GET', '/readyz'), {
      status: 503,
      body: { status: 'not ready', checks: { orders: { ready: false, detail: reason } } },
    })
    t.match(await other.call('GET', day), { status: 200, body: { totalItems: 0 } })
    t.equal((await other.call('GET', '/readyz')).status, 200)

    await startOrderApi(t, { DATA_DIR, TIME_ZONE: 'Asia/Tokyo' })
    t.match(
      await call('GET', day),
      { status: 200, body: { totalItems: 1 } },
      'recovers automatically',
    )
    t.equal((await call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status, 200)
    t.equal((await call('GET', '/readyz')).status, 200)
    t.equal((await other.call('GET', day)).status, 503, 'rejects requests in the other service too')
    checkStore(getDatabasePath(DATA_DIR))
  },
)

t.test('readiness includes the order store', async (t) => {
  const { call } = await startOrderApi(t)
  t.match((await call('GET', '/readyz')).body, { checks: { orders: { ready: true } } })
})

t.test(
  'an order is found by its ID at the provider and at Stripe, and by its certificate',
  async (t) => {
    const { call, app, url } = await startOrderApi(t)
    const headers = { authorization: `Bearer ${await signIn(url)}` }
    for (const orderSourceId of ['off_1a2b3c', 'off_other', '42']) {
      await call('POST', ORDERS, newOrder({ orderSourceId, customerName: 'Ann 42' }))
    }
    await app.database.query(
      `INSERT INTO payments VALUES ('p', '2', 1, 'paid', 1, 'EUR', 'cs_test_a1', 'pi_3X', 0, NULL, NULL,
       NULL, 0, 0, NULL, 1)`,
    )
    const code = 'x-Y_abcdefghijklmnopqr'
    await app.database.query("INSERT INTO certificates VALUES (?, '3', 'm', '{}', 0)", [code])
    const find = async (query: string) => {
      const { body } = await call('GET', `${ORDERS}?${query}`)
      return body.items.map(({ id }: { id: string }) => id)
    }
    for (const [q, id] of [
      ['off_1a2b3c', '1'],
      ['%20cs_test_a1%20', '2'],
      ['pi_3X', '2'],
      [code, '3'],
      [getCertificateNumber({ code }), '3'],
      [getCertificateNumber({ code }).toLowerCase(), '3'],
    ] as const) {
      t.same(await find(`q=${q}`), [id], q)
      t.same(await find(`q=${q}&status=paid`), [], 'with the other filters')
      const file = await fetch(`${url}${ORDERS}/export?q=${q}`, { headers })
      t.equal((await file.text()).trim().split('\r\n').length, 2, 'in the export too')
    }
    t.same(await find('q=off_1a2b'), [], 'only a whole ID')
    t.equal((await find('q=42')).length, 3, 'what the texts contain comes first')
  },
)
