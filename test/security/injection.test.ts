import { createHmac } from 'node:crypto'
import { Writable } from 'node:stream'
import t from 'tap'
import { buildApp } from '../../src/app.js'
import { SECRET, temporaryFolder } from '../support/app.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { rawRequest } from '../support/raw-http.js'
import { ADMIN, ADMIN_ACCOUNTS, cookieHeader, postLogin, verify } from '../support/sign-in.js'

const ORDERS = '/api/admin/orders'

t.test('search text is text to the database', async (t) => {
  const { call } = await startOrderApi(t)
  const names = [
    "' OR 1=1 --",
    "'; DROP TABLE orders; --",
    '" OR ""="',
    'name:* NEAR(x, 2) AND ^y',
    'a OR b',
    '%',
    '_',
    '\\%',
    '*',
    '{customer_name}: x',
    "x') UNION SELECT password FROM accounts --",
    '$(id) `id` ${7*7}',
  ]
  for (const customerName of [...names, 'Somebody else']) {
    t.equal((await call('POST', ORDERS, newOrder({ customerName }))).status, 201)
  }
  for (const name of names) {
    const { status, body } = await call('GET', `${ORDERS}?${new URLSearchParams({ q: name })}`)
    t.equal(status, 200, name)
    const found = body.items.map((order: any) => Object.values(order).join(' ').toLowerCase())
    t.ok(
      found.some((text: string) => text.includes(name.toLowerCase())),
      `${name} is found`,
    )
    const words = name.toLowerCase().split(' ')
    t.ok(
      found.every((text: string) => words.every((word) => text.includes(word))),
      `and nothing else: ${found.join(' | ')}`,
    )
  }
  for (const [name, value] of [
    ['sort', 'placedAt; DROP TABLE orders'],
    ['sort', '(SELECT 1)'],
    ['sort', '-version'],
    ['sort', 'customer_email'],
    ['sort', 'constructor'],
    ['status', "paid' OR '1'='1"],
    ['status', '__proto__'],
    ['calculatorType', 'fuel" OR 1=1'],
    ['currency', "EUR' --"],
    ['from', "2026-01-01' OR 1=1"],
    ['to', '2026-01-01; --'],
    ['page', '1 OR 1=1'],
    ['pageSize', '1; DELETE FROM orders'],
    ['id', '1'],
  ] as const) {
    const query = new URLSearchParams({ [name]: value }).toString()
    const { status, body } = await call('GET', `${ORDERS}?${query}`)
    t.equal(status, 422, query)
    t.match(body.errors, [{ path: name }])
    t.equal((await call('GET', `${ORDERS}/export?${query}`)).status, 422, `export ${query}`)
  }
  t.equal((await call('GET', ORDERS)).body.totalItems, names.length + 1)
})

t.test('a question mark is part of the search on every page', async (t) => {
  const { call } = await startOrderApi(t)
  const { headers } = await call('GET', `${ORDERS}?q=who?what&pageSize=1`)
  t.match(headers.get('link'), /\?q=who%3Fwhat&pageSize=1&page=1>; rel="first"/)
})

t.test('clients cannot set assigned fields', async (t) => {
  const { call } = await startOrderApi(t)
  const { body: order } = await call('POST', ORDERS, newOrder())
  for (const [name, value] of Object.entries({
    id: '999',
    orderNumber: 'CW-999999',
    version: 99,
    createdAt: '2020-01-01T00:00:00Z',
    updatedAt: '2020-01-01T00:00:00Z',
    fulfilledAt: '2020-01-01T00:00:00Z',
    cancelledAt: null,
    deletedAt: null,
    history: [],
    by: 'somebody@example.com',
    administrator: { email: 'somebody@example.com' },
    rowid: 1,
    created_by: 'import',
  })) {
    for (const [method, path, given] of [
      ['POST', ORDERS, newOrder()],
      ['PATCH', `${ORDERS}/${order.id}`, { notes: 'x' }],
    ] as const) {
      const { status, body } = await call(method, path, { ...given, [name]: value })
      t.equal(status, 422, `${method} ${name}`)
      const isFixed = method === 'PATCH' && name in order
      const message = isFixed ? 'cannot be changed' : 'is not a known field'
      t.strictSame(body.errors, [{ path: name, message }])
    }
  }
  for (const [name, value] of Object.entries({
    placedAt: '2020-01-01T00:00:00Z',
    calculatorType: null,
  })) {
    const { status } = await call('PATCH', `${ORDERS}/${order.id}`, { [name]: value })
    t.equal(status, 422, `PATCH ${name}`)
  }
  t.equal((await call('PATCH', `${ORDERS}/${order.id}`, { status: 'cancelled' })).status, 422)
  t.strictSame((await call('GET', `${ORDERS}/${order.id}`)).body, order)
})

t.test('a form changes its own fields only', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const order = await ann.call('POST', ORDERS, newOrder())
  const extra = {
    id: '999',
    orderNumber: 'CW-999999',
    status: 'refunded',
    amount: '0.01',
    createdAt: '2020-01-01T00:00:00Z',
    cancelledAt: '2020-01-01T00:00:00Z',
    'customerName[]': 'x',
    __proto__: 'x',
  }
  const edited = await ann.post(`/admin/orders/${order.id}/edit?group=notes`, {
    ...extra,
    version: '1',
    notes: 'Called back',
  })
  t.equal(edited.status, 303)
  const after = await ann.call('GET', `${ORDERS}/${order.id}`)
  t.strictSame(
    { ...after, updatedAt: '' },
    { ...order, notes: 'Called back', version: 2, updatedAt: '' },
  )

  const entered = await ann.post('/admin/orders', {
    customerName: 'Ben',
    customerEmail: 'ben@example.com',
    co2eKg: '1',
    currency: 'EUR',
    ...extra,
    status: 'pending',
  })
  t.equal(entered.status, 303)
  const made = await ann.call(
    'GET',
    `${ORDERS}/${entered.headers.get('location')?.split('/').at(-1)}`,
  )
  t.match(made, { id: '2', orderNumber: 'CW-000002', version: 1, cancelledAt: null })
  t.ok(made.createdAt > '2026')
})

t.test('an order has one ID, in one notation', async (t) => {
  const { url, call } = await startOrderApi(t)
  await call('POST', ORDERS, newOrder())
  const { body } = await postLogin(url)
  const status = async (id: string) => {
    const response = await rawRequest(
      url,
      `GET ${ORDERS}/${id} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${body.token}\r\n\r\n`,
    )
    return Number(response.split(' ')[1])
  }
  t.equal(await status('1'), 200)
  t.equal(await status('%31'), 200, 'an escape is the same address')
  for (const id of [
    ...['0', '-1', '01', '1.0', '1e0', '0x1', '+1', '%201', '1%20', '1%0a', '1;', "1'"],
    ...['1%2f', '%ef%bc%91', '1,2', '*', 'null', 'NaN', 'Infinity', '__proto__', 'constructor'],
    ...['2', '9007199254740993', '18446744073709551617', '9'.repeat(400), '[1]', '%5b%5d'],
  ]) {
    t.equal(await status(id), 404, id)
  }
  t.equal(await status('1%00'), 400, 'a malformed URL')
})

t.test('sign-in redirects to own pages only', async (t) => {
  const { url } = await startOrderApi(t, { LOGIN_LIMIT_PER_CLIENT: '1000' })
  const cookie = cookieHeader(await postLogin(url))
  const { host } = new URL(url)
  for (const [to, location = '/admin'] of [
    ['//evil.example'],
    ['///evil.example'],
    ['/\\evil.example'],
    ['\\\\evil.example'],
    ['/\t/evil.example'],
    ['\u0000//evil.example'],
    [' //evil.example'],
    ['https://evil.example/admin'],
    ['https:evil.example/admin'],
    ['http://own.invalid/admin', '/admin'],
    [`http://${host}@evil.example/admin`],
    ['javascript:alert(1)'],
    ['JaVaScRiPt:alert(1)//admin'],
    ['data:text/html,<script>alert(1)</script>'],
    ['//evil.example/admin'],
    ['/admin@evil.example'],
    ['/admin.evil.example'],
    ['/admin/../../evil'],
    ['/admin/..//evil.example'],
    ['/admin/%2e%2e//evil.example'],
    ['/admin/\\..\\..\\evil'],
    ['%2f%2fevil.example'],
    ['/%2fevil.example'],
    ['/%5cevil.example'],
    ['/admin\r\nset-cookie: a=b'],
    ['/admin/orders\r\nlocation: //evil.example', '/admin/orderslocation:%20//evil.example'],
    ['/admin/login?returnTo=//evil.example'],
    ['/admin/logout'],
    ['/calculator/fuel'],
    ['/qr-tests'],
    ['/qr-test', '/qr-test'],
    ['x'.repeat(20_000)],
    ['/admin/orders?q=//evil.example#x', '/admin/orders?q=//evil.example'],
    ['/admin/orders/1', '/admin/orders/1'],
  ] as const) {
    const startedAt = new URLSearchParams({ returnTo: to }).toString()
    const known = await fetch(`${url}/admin/login?${startedAt}`, {
      headers: { cookie },
      redirect: 'manual',
    })
    const led = [known]
    const form = new URLSearchParams({ ...ADMIN, returnTo: to })
    led.push(
      await fetch(`${url}/admin/login`, {
        method: 'POST',
        headers: { origin: url },
        body: form,
        redirect: 'manual',
      }),
    )
    for (const { status, headers } of led) {
      t.equal(status, 303, to.slice(0, 60))
      const found = headers.get('location')
      t.equal(found, location, to.slice(0, 60))
      t.equal(new URL(found ?? '', url).host, host)
      t.notMatch(headers.getSetCookie().join(), /(^|,)a=b/)
    }
  }
  for (const from of [
    'http://evil.example/admin/x',
    'javascript:alert(1)',
    '//evil.example',
    'x',
  ]) {
    const part = await fetch(`${url}/admin/orders`, {
      headers: { 'hx-request': 'true', 'hx-request-type': 'partial', 'hx-current-url': from },
    })
    t.match(part.headers.get('hx-redirect'), /^\/admin\/login\?returnTo=%2Fadmin/, from)
    t.notMatch(part.headers.get('hx-redirect'), /evil/)
  }
})

t.test('rejects a token that chooses its own algorithm or key', async (t) => {
  const { url, app } = await startOrderApi(t)
  const { body } = await postLogin(url)
  const token = body.token as string
  const claims = app.jwt.decode<Record<string, unknown>>(token)
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = (head: object, key: string) => {
    const text = `${encoded({ typ: 'JWT', ...head })}.${encoded(claims)}`
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  }
  for (const [what, wrong] of [
    ['None', `${encoded({ alg: 'None' })}.${encoded(claims)}.`],
    ['nOnE with a signature', signed({ alg: 'nOnE' }, SECRET)],
    ['no algorithm', signed({}, SECRET)],
    ['an empty key', signed({ alg: 'HS256' }, '')],
    ['a key of its own', signed({ alg: 'HS256', jwk: { kty: 'oct', k: 'eA' } }, 'x')],
    ['a file as key', signed({ alg: 'HS256', kid: '/dev/null' }, '')],
    ['an address as key', signed({ alg: 'HS256', jku: `${url}/x`, x5u: `${url}/x` }, 'x')],
    ['another kind of algorithm', signed({ alg: 'RS256' }, SECRET)],
    ['what must be understood', signed({ alg: 'HS256', crit: ['exp'] }, SECRET)],
    ['five parts', `${token}.x.y`],
    ['blank parts', '..'],
    ['a long one', `${token}${'A'.repeat(20_000)}`],
    ['claims that are none', `${token.split('.')[0]}.bnVsbA.${token.split('.')[2]}`],
  ] as const) {
    t.equal((await verify(url, wrong)).status, 401, what)
  }
  t.equal((await verify(url, token)).status, 200)
})

t.test('nothing in a request can break a log line', async (t) => {
  let log = ''
  const app = await buildApp({
    environment: {
      DATA_DIR: temporaryFolder(t),
      SESSION_SECRET: SECRET,
      ADMIN_ACCOUNTS,
      LOG_LEVEL: 'trace',
    },
    logStream: new Writable({
      write(line: Buffer, _encoding, done) {
        log += line.toString()
        done()
      },
    }),
  })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const evil = '\u001b[2J\u009b31m\r\n{"level":60,"msg":"pwned"}\u2028\u202e\u0000\u007f'
  for (const given of [
    { calculatorType: evil, vessel: { name: evil, imoNumber: evil } },
    {
      calculatorType: 'custom',
      calculatorData: { amount: 1, unit: 't' },
      vessel: { name: `A${evil}` },
    },
  ]) {
    const { status } = await fetch(`${url}/api/qr-code/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(given),
    })
    t.equal(status, 422)
  }
  await postLogin(url, { email: `${evil}@example.com`, password: evil })
  await fetch(`${url}/${encodeURIComponent(evil)}?${encodeURIComponent(evil)}`)
  await fetch(`${url}/calculator/fuel?data=${encodeURIComponent(evil)}&sig=x`)
  await fetch(`${url}/`, { headers: { 'x-request-id': '\u009bx', 'user-agent': '\u009bx' } })
  for (const bytes of ['\x1b[2J\r\n\r\n', 'GET /\x9b31m HTTP/1.1\r\n\r\n'])
    await rawRequest(url, bytes)
  await (await fetch(`${url}/healthz`)).text()
  const lines = log.trimEnd().split('\n')
  t.ok(lines.length >= 8, `${lines.length} entries`)
  for (const line of lines) t.not(JSON.parse(line).level, 60)
  t.notMatch(log.replaceAll('\n', ''), /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u)
})
