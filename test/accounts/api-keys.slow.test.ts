import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createKey, isWellFormedKey } from '../../src/accounts/api-keys/api-key-store.js'
import { API_KEY_SCOPE_NAMES, type ApiKeyScope } from '../../src/accounts/permissions.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { startFakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { downgradeStore, POSTGRES_WITH_PERIODS } from '../support/downgrade-store.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { startOrderApi, type OrderApi } from '../support/order-api.js'
import { startPostgres } from '../support/postgres.js'
import { routeTable } from '../support/route-table.js'
import { runCommand } from '../support/run-command.js'
import { ADMIN_ACCOUNTS } from '../support/sign-in.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'

const KEYS = '/api/admin/api-keys'
const ORDERS = '/api/admin/orders'

async function createApiKey(
  { call }: Pick<OrderApi, 'call'>,
  scopes: readonly ApiKeyScope[] = API_KEY_SCOPE_NAMES,
  fields: object = {},
): Promise<{ id: string; key: string }> {
  const { status, body } = await call('POST', KEYS, { name: 'Web shop', scopes, ...fields })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

const fetchWith = (url: string, key: string, init: RequestInit = {}) =>
  fetch(url, { ...init, headers: { ...bearer(key), ...(init.headers as object) } })

const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends JSON with a key; returns the status and the parsed response. */
async function callWith(url: string, key: string, method: string, path: string, body?: unknown) {
  const response = await fetchWith(url + path, key, {
    method,
    headers: body === undefined ? {} : JSON_TYPE,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { status, headers } = response
  return { status, headers, body: await response.json() }
}

const NEW_ORDER = {
  customerName: 'Ann',
  customerEmail: 'ann@example.com',
  co2eKg: 1000,
  amountMinor: 2450,
  currency: 'EUR',
}

t.test('a key has 40 characters and a checksum that detects single-character errors', async (t) => {
  const key = createKey()
  t.match(key, /^cwk_[0-9A-Za-z]{36}$/)
  t.equal(isWellFormedKey(key), true)
  const changed = Array.from(
    key,
    (letter, i) => key.slice(0, i) + (letter === 'x' ? 'y' : 'x') + key.slice(i + 1),
  )
  t.same(changed.filter(isWellFormedKey), [])
  t.not(createKey(), key)
})

t.test('creates, lists, uses and revokes a key', async (t) => {
  const api = await startOrderApi(t)
  const created = await api.call('POST', KEYS, { name: 'Web shop', scopes: ['orders:read'] })
  t.equal(created.status, 201)
  t.equal(created.headers.get('cache-control'), 'no-store')
  const { id, key, ...others } = created.body
  t.match(others, { name: 'Web shop', scopes: ['orders:read'], expiresAt: null })

  t.equal((await fetchWith(api.url + ORDERS, key)).status, 200)
  const list = await api.call('GET', KEYS)
  t.match(list.body.items, [{ id, name: 'Web shop', hint: key.slice(-4), revokedAt: null }])
  t.ok(list.body.items[0].lastUsedAt, 'it was used')
  t.notOk(JSON.stringify(list.body).includes(key), 'the list does not contain the key')

  t.equal((await api.call('DELETE', `${KEYS}/${id}`)).status, 204)
  t.equal((await api.call('DELETE', `${KEYS}/${id}`)).status, 204, 'again changes nothing')
  t.equal((await api.call('DELETE', `${KEYS}/nothing`)).status, 404)
  const refused = await fetchWith(api.url + ORDERS, key)
  t.equal(refused.status, 401)
  t.equal(refused.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
  t.match(await refused.json(), { detail: /^The API key or token is not valid/ })
  for (const headers of [{}, { authorization: key }]) {
    const without = await fetch(api.url + ORDERS, { headers })
    t.equal(without.headers.get('www-authenticate'), 'Bearer')
    t.match(await without.json(), { detail: /^Send an API key or a token in the header/ })
  }
  const [revoked] = (await api.call('GET', KEYS)).body.items
  t.ok(revoked.revokedAt)
})

t.test('reports every invalid field of a new key', async (t) => {
  const { call } = await startOrderApi(t)
  const fields = { name: '', scopes: ['everything'], expiresAt: 'soon', role: 'owner' }
  const invalid = await call('POST', KEYS, fields)
  t.equal(invalid.status, 422)
  t.same(invalid.body.errors.map(({ path }: { path: string }) => path).toSorted(), [
    'expiresAt',
    'name',
    'role',
    'scopes.0',
  ])
  for (const [fields, errors] of [
    [{ scopes: [] }, [{ path: 'scopes', message: 'must not be empty' }]],
    [
      { scopes: ['orders:read', 'orders:read'] },
      [{ path: 'scopes', message: 'must not contain the same value twice' }],
    ],
    [
      { expiresAt: '2020-01-01T00:00:00Z' },
      [{ path: 'expiresAt', message: 'must be in the future' }],
    ],
  ] as const) {
    const request = { name: 'Shop', scopes: ['orders:read'], ...fields }
    t.same((await call('POST', KEYS, request)).body.errors, errors)
  }
})

t.test('every operation is reachable with its scope only, others with no key', async (t) => {
  const provider = await startFakeProvider({ token: 'token' })
  t.teardown(() => provider.close())
  const api = await startOrderApi(t, {
    ORDERSOURCE_BASE_URL: provider.url,
    ORDERSOURCE_API_TOKEN: 'token',
    QR_REQUIRE_ADMIN: 'true',
    ORDERSOURCE_PUBLIC_ROUTES: 'GET /nothing',
  })
  const keys = new Map<string, string>()
  for (const scope of API_KEY_SCOPE_NAMES) keys.set(scope, (await createApiKey(api, [scope])).key)
  const { body: document } = await api.call('GET', '/openapi.json')
  const documented = new Set<string>()
  let withScope = 0
  for (const [path, methods] of Object.entries<Record<string, any>>(document.paths)) {
    for (const [method, { security = [] }] of Object.entries(methods)) {
      const route = `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '1')}`
      documented.add(route)
      if (security.length === 0) continue
      const [needed] = security.flatMap(({ apiKey = [] }: { apiKey?: string[] }) => apiKey)
      if (needed !== undefined) withScope++
      const [verb = '', url = ''] = route.split(' ')
      const statuses: Record<string, boolean> = {}
      for (const [scope, key] of keys) {
        const response = await fetchWith(api.url + url, key, { method: verb })
        await response.body?.cancel()
        statuses[scope] = response.status !== 403
        if (response.status !== 403) continue
        const challenge = `Bearer error="insufficient_scope"${needed === undefined ? '' : `, scope="${needed}"`}`
        if (response.headers.get('www-authenticate') !== challenge) t.fail(`${route}: ${scope}`)
      }
      const expected = Object.fromEntries(
        [...keys.keys()].map((scope) => [scope, scope === needed]),
      )
      t.same(statuses, expected, route)
    }
  }
  t.ok(withScope > 10, 'there are some')

  const all = (await createApiKey(api)).key
  const undocumented = routeTable(api.app)
    .map(({ method, path }) => `${method} ${path.replace(/:\w+/g, '1')}`)
    .filter((route) => / \/(api\/)?admin/.test(route) && !documented.has(route))
    .filter((route) => !/login|forgot-password|invitation|password-reset/.test(route))
  const reachable = []
  for (const route of undocumented) {
    const [method = '', path = ''] = route.split(' ')
    // HEAD is as GET, which is documented.
    if (method === 'HEAD' && documented.has(`GET ${path}`)) continue
    const response = await fetchWith(api.url + path, all, { method, redirect: 'manual' })
    if (response.status !== 403) reachable.push(`${route}: ${response.status}`)
  }
  t.same(reachable, [], 'pages are not reachable with a key')
})

t.test('the history names the key that changed an order', async (t) => {
  const api = await startOrderApi(t)
  const { key } = await createApiKey(api, ['orders:write', 'orders:read'])
  const created = await callWith(api.url, key, 'POST', ORDERS, NEW_ORDER)
  t.equal(created.status, 201)
  const { id } = created.body
  await callWith(api.url, key, 'PATCH', `${ORDERS}/${id}`, { notes: 'from the shop' })
  const { body } = await api.call('GET', `${ORDERS}/${id}/history`)
  t.match(body.items, [{ by: 'API key “Web shop”' }, { by: 'API key “Web shop”' }])
})

t.test('a shop’s key could mark its own orders as paid and change what a guest paid', async (t) => {
  const api = await startOrderApi(t, { PRICE_PER_TONNE: '24.50', CURRENCY: 'EUR' })
  await placeOrder(createGuest(api.url))
  const { key: shop } = await createApiKey(api, ['orders:read', 'orders:write'])
  const { key: office } = await createApiKey(api, ['orders:write', 'orders:settle'])
  const call = (key: string, method: string, path: string, body?: unknown) =>
    callWith(api.url, key, method, path, body)
  const guestOrder = `${ORDERS}/1`

  for (const status of ['paid', 'processing', 'fulfilled', 'refunded']) {
    for (const refused of [
      await call(shop, 'PATCH', guestOrder, { status }),
      await call(shop, 'POST', ORDERS, { ...NEW_ORDER, status }),
    ]) {
      t.equal(refused.status, 403, status)
      t.match(refused.headers.get('www-authenticate'), 'scope="orders:settle"')
    }
  }
  for (const changes of [
    { amountMinor: 60 },
    { currency: 'JPY' },
    { co2eKg: 1 },
    { orderSourceId: 'typed' },
    { notes: 'Cheaper', amountMinor: 60, currency: 'JPY' },
  ]) {
    t.equal((await call(shop, 'PATCH', guestOrder, changes)).status, 403, JSON.stringify(changes))
  }
  t.equal((await call(shop, 'POST', `${guestOrder}/recalculate`)).status, 403)
  t.match((await call(shop, 'GET', guestOrder)).body, {
    status: 'pending',
    amountMinor: 4900,
    currency: 'EUR',
    co2eKg: 2000,
    version: 1,
  })
  t.equal((await call(shop, 'PATCH', `${ORDERS}/999`, { amountMinor: 60 })).status, 404)

  t.equal((await call(shop, 'PATCH', guestOrder, { notes: 'Called back' })).status, 200)
  const own = (await call(shop, 'POST', ORDERS, NEW_ORDER)).body
  t.match((await call(shop, 'PATCH', `${ORDERS}/${own.id}`, { amountMinor: 60 })).body, {
    amountMinor: 60,
  })
  t.equal((await call(office, 'PATCH', guestOrder, { amountMinor: 5000 })).status, 200)
  t.equal((await call(office, 'PATCH', guestOrder, { status: 'paid' })).status, 200)
  t.equal((await call(office, 'POST', ORDERS, { ...NEW_ORDER, status: 'paid' })).status, 201)
  t.equal((await call(shop, 'DELETE', guestOrder)).body.status, 'cancelled')
})

t.test('a key that may not read orders received the whole order after a change', async (t) => {
  const api = await startOrderApi(t)
  const { key: writer } = await createApiKey(api, ['orders:write'])
  const { key: reader } = await createApiKey(api, ['orders:read', 'orders:write'])
  for (const [key, isWhole] of [
    [writer, false],
    [reader, true],
  ] as const) {
    const call = (method: string, path: string, body?: unknown) =>
      callWith(api.url, key, method, path, body)
    const created = await call('POST', ORDERS, NEW_ORDER)
    const path = `${ORDERS}/${created.body.id}`
    t.equal(created.headers.get('location'), path)
    t.match(created.headers.get('content-type'), 'application/json')
    const responses = [
      created,
      await call('PATCH', path, { notes: 'Called back' }),
      await call('PATCH', path, { notes: 'Called back' }),
      await call('POST', `${path}/recalculate`),
      await call('DELETE', path),
      await call('DELETE', path),
    ]
    for (const { body, headers } of responses) {
      t.equal(headers.get('etag'), `"${body.version}"`)
      if (isWhole) t.match(body, { customerName: 'Ann', amountMinor: 2450, origin: 'api' })
      else t.same(Object.keys(body), ['id', 'status', 'version'])
    }
    t.same(
      responses.map(({ body }) => `${body.status} ${body.version}`),
      ['pending 1', 'pending 2', 'pending 2', 'pending 2', 'cancelled 3', 'cancelled 3'],
    )
  }
})

t.test('a key that may not read orders had a private link sent to another address', async (t) => {
  const api = await startOrderApi(t, { PRICE_PER_TONNE: '24.50', CURRENCY: 'EUR' })
  await placeOrder(createGuest(api.url))
  for (const scopes of [['orders:write'], ['orders:write', 'orders:settle']] as const) {
    const { key } = await createApiKey(api, scopes)
    const call = (method: string, path: string, body?: unknown) =>
      callWith(api.url, key, method, path, body)
    const changes = { customerEmail: 'eve@example.com', notes: 'Moved' }
    const refused = await call('PATCH', `${ORDERS}/1`, changes)
    t.equal(refused.status, 403)
    t.match(refused.headers.get('www-authenticate'), 'scope="orders:read"')
    const { body: own } = await call('POST', ORDERS, NEW_ORDER)
    t.equal((await call('PATCH', `${ORDERS}/${own.id}`, changes)).status, 200, 'not a guest')
  }
  const { body } = await api.call('GET', `${ORDERS}/1`)
  t.match(body, { customerEmail: 'ann@example.com', version: 1 })
})

t.test('a change without fields was accepted', async (t) => {
  const api = await startOrderApi(t)
  const { body: order } = await api.call('POST', ORDERS, NEW_ORDER)
  const empty = await api.call('PATCH', `${ORDERS}/${order.id}`, {})
  t.equal(empty.status, 422)
  t.equal(empty.body.detail, 'The input must contain at least one field.')
})

/** Undoes the migration that adds orders:settle to existing keys. */
const WITHOUT_SETTLE = `UPDATE api_keys SET scopes = replace(scopes, ',"orders:settle"', '')`

async function checkEarlierKeys(t: Test, api: OrderApi, shop: string) {
  const { items } = (await api.call('GET', KEYS)).body
  const scopes = items.map(({ scopes: given }: { scopes: string[] }) => given.join())
  t.same(scopes.toSorted(), ['orders:read,stats:read', 'qr:write,orders:write,orders:settle'])
  const { body: order } = await api.call('POST', ORDERS, NEW_ORDER)
  const paid = await callWith(api.url, shop, 'PATCH', `${ORDERS}/${order.id}`, {
    status: 'paid',
  })
  t.equal(paid.status, 200, 'it can still do what it could')
}

async function createEarlierKeys(api: OrderApi): Promise<string> {
  await createApiKey(api, ['orders:read', 'stats:read'])
  return (await createApiKey(api, ['qr:write', 'orders:write', 'orders:settle'])).key
}

t.test('keys of an earlier version keep what they could do, in SQLite', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const before = await startOrderApi(t, { DATA_DIR })
  const shop = await createEarlierKeys(before)
  await before.app.close()
  downgradeStore(join(DATA_DIR, 'orders.db'), 17)
  await checkEarlierKeys(t, await startOrderApi(t, { DATA_DIR }), shop)
})

t.test('keys of an earlier version keep what they could do, in PostgreSQL', async (t) => {
  const DATABASE_URL = await (await startPostgres(t)).createDatabase()
  const before = await startOrderApi(t, { DATABASE_URL })
  const shop = await createEarlierKeys(before)
  await before.app.database.query(WITHOUT_SETTLE)
  for (const statement of POSTGRES_WITH_PERIODS) await before.app.database.query(statement)
  await before.app.database.query('UPDATE schema_version SET version = 16') // without the scope
  await before.app.close()
  await checkEarlierKeys(t, await startOrderApi(t, { DATABASE_URL }), shop)
})

t.test('a key is accepted as a bearer token only', async (t) => {
  const api = await startOrderApi(t)
  const { key } = await createApiKey(api)
  for (const [path, headers] of [
    [`${ORDERS}?key=${key}`, {}],
    [`${ORDERS}?access_token=${key}`, {}],
    [ORDERS, { cookie: `clearwake=${key}` }],
    [ORDERS, { 'x-api-key': key }],
    [ORDERS, { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }],
    [ORDERS, bearer(createKey())],
    [ORDERS, bearer(key.slice(0, -1))],
  ] as const) {
    const status = (await fetch(api.url + path, { headers })).status
    t.ok(status === 401 || status === 422, `${path.slice(0, 30)}: ${status}`)
  }
})

t.test('an expired key is rejected', async (t) => {
  const api = await startOrderApi(t)
  const expiresAt = new Date(Date.now() + 1_500).toISOString()
  const { key } = await createApiKey(api, ['orders:read'], { expiresAt })
  const getStatus = async () => (await fetchWith(api.url + ORDERS, key)).status
  t.equal(await getStatus(), 200)
  await waitForEqual(t, getStatus, 401)
})

t.test('a request with a key does not wait for writes to a locked database', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const api = await startOrderApi(t, { DATA_DIR })
  const { id, key } = await createApiKey(api)
  const db = new Database(getDatabasePath(DATA_DIR))
  t.teardown(() => db.close())
  db.exec('BEGIN IMMEDIATE')
  t.equal((await fetchWith(api.url + ORDERS, key)).status, 200)
  const getLastUse = async () => {
    const { body } = await api.call('GET', KEYS)
    return body.items.find((each: { id: string }) => each.id === id).lastUsedAt as string | null
  }
  t.equal(await getLastUse(), null)
  db.exec('ROLLBACK')
  const useAgain = async () => {
    await fetchWith(api.url + ORDERS, key)
    return getLastUse()
  }
  t.ok(await waitFor(useAgain), 'recorded once the lock is gone')
})

t.test('limits the requests of each key', async (t) => {
  const api = await startOrderApi(t, { API_KEY_LIMIT_PER_MINUTE: '3' })
  const [first, second] = [await createApiKey(api), await createApiKey(api)]
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await fetchWith(api.url + ORDERS, first.key)).status)
  t.same(statuses, [200, 200, 200, 429])
  const limited = await fetchWith(api.url + ORDERS, first.key)
  t.ok(Number(limited.headers.get('retry-after')) > 0)
  t.equal((await fetchWith(api.url + ORDERS, second.key)).status, 200)
})

t.test('a key and its hash appear in no log', async (t: Test) => {
  const api = await startOrderApi(t)
  const { key } = await createApiKey(api)
  await fetchWith(api.url + ORDERS, key)
  await fetchWith(`${api.url}${KEYS}`, key)
  await fetchWith(api.url + ORDERS, key.slice(0, -1))
  const log = JSON.stringify(api.log)
  t.notOk(log.includes(key.slice(4, -7)))
  const metrics = await (await fetch(`${api.url}/metrics`)).text()
  t.notOk(metrics.includes(key.slice(4, -7)))
})

t.test('with PostgreSQL, a revoked key is rejected by every process immediately', async (t) => {
  const server = await startPostgres(t)
  const DATABASE_URL = await server.createDatabase()
  const environment = { ADMIN_ACCOUNTS, DATABASE_URL }
  const [first, second] = [await startOrderApi(t, environment), await startApp(t, environment)]
  const { id, key } = await createApiKey(first)
  t.equal((await fetchWith(second.url + ORDERS, key)).status, 200)
  await first.call('DELETE', `${KEYS}/${id}`)
  t.equal((await fetchWith(second.url + ORDERS, key)).status, 401)
})

t.test('creates a key by command', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const run = (...given: string[]) => runCommand('api-key-create', given, { DATA_DIR })
  const { code, output, errors } = await run('--name', 'Shop', '--scopes', 'orders:read,stats:read')
  t.equal(code, 0)
  const key = output.trim()
  t.equal(output, `${key}\n`, 'and prints nothing else to standard output')
  t.equal(errors, `Valid for the service that stores its data in ${join(DATA_DIR, 'orders.db')}.\n`)
  const { url } = await startApp(t, { ADMIN_ACCOUNTS, DATA_DIR })
  t.equal((await fetchWith(url + ORDERS, key)).status, 200)
  t.match(await run('--name', 'Shop', '--scopes', 'all'), {
    code: 1,
    errors: /scopes\.0 must be one of/,
  })
  t.match(await run('--nme', 'Shop'), { code: 1, errors: /Usage/ })
  t.match(await run(), { code: 1, errors: /Usage/ })
})
