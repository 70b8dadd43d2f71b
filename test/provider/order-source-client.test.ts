import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { startFakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { PORTFOLIOS } from '../../src/demo/fake-provider/portfolios.js'
import { calculatePrice } from '../../src/orders/amount.js'
import { createOffsetOrderSource } from '../../src/provider/order-source-client.js'
import { openUpstream } from '../../src/provider/upstream.js'
import { startApp } from '../support/app.js'
import { freePort } from '../support/free-port.js'
import { rawUpstream, recordingUpstream, UPSTREAM_TOKEN } from '../support/recording-upstream.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'

/** Long enough for a busy machine */
const TIMEOUT_MS = 30_000
const SHORT_TIMEOUT_MS = 300

/** Creates a client as the service does. */
function createSource(t: Test, url: string, token = UPSTREAM_TOKEN, timeoutMs = TIMEOUT_MS) {
  const upstream = openUpstream(
    {
      ORDERSOURCE_BASE_URL: url,
      ORDERSOURCE_API_TOKEN: token,
      ORDERSOURCE_TIMEOUT_MS: timeoutMs,
    },
    new Registry(),
  )
  if (upstream === null) throw new Error('not configured')
  t.teardown(() => upstream.close())
  return createOffsetOrderSource(upstream)
}

async function startSource(t: Test, credit?: number) {
  const provider = await startFakeProvider({
    token: UPSTREAM_TOKEN,
    ...(credit === undefined ? {} : { credit }),
  })
  t.teardown(() => provider.close())
  return { provider, source: createSource(t, provider.url) }
}

const ORDER = { tons: 1.6, portfolioId: 2, note: 'CW-000123', dryRun: false }

// With a working provider

t.test('lists portfolios with prices and projects', async (t) => {
  const { source } = await startSource(t)
  const response = await source.listPortfolios()
  if (response.outcome !== 'ok') throw new Error(response.outcome)
  t.equal(response.value.length, PORTFOLIOS.length)
  t.match(response.value[1], {
    id: 2,
    name: 'Blue Carbon',
    description: 'Seagrass and mangroves alone: carbon kept where vessels sail.',
    pricePerTon: { amountMinor: 3850, currency: 'USD' },
    projects: [
      {
        id: '11',
        name: 'Mangroves of Gazi Bay',
        country: 'Kenya',
        kind: 'Mangrove restoration',
        share: 0.6,
        method: 'removal',
        standard: 'Plan Vivo',
        registry: 'Example Registry',
        registryUrl: 'https://registry.example/projects/11',
        vintage: '2024',
      },
      { id: '21', name: 'Seagrass of the Ria', country: 'Portugal', share: 0.4 },
    ],
  })
  for (const { projects } of PORTFOLIOS) {
    const sum = projects.reduce((total, { percentage }) => total + percentage, 0)
    t.ok(Math.abs(sum - 1) < 1e-9, 'the shares add up to 1')
  }
})

t.test('quotes, places and finds an order', async (t) => {
  const { source, provider } = await startSource(t)
  t.same(await source.placeOrder({ ...ORDER, dryRun: true }, 'key'), {
    outcome: 'ok',
    value: { id: null, tons: 1.6, amount: { amountMinor: 6160, currency: 'USD' } },
  })
  t.equal(provider.ledger.orders.length, 0, 'a quote is not an order')

  const placed = await source.placeOrder(ORDER, 'key')
  t.same(placed, {
    outcome: 'ok',
    value: { id: '1', tons: 1.6, amount: { amountMinor: 6160, currency: 'USD' } },
  })
  const found = await source.getOrder('1')
  t.match(found, {
    outcome: 'ok',
    value: {
      id: '1',
      tons: 1.6,
      amount: { amountMinor: 6160, currency: 'USD' },
      portfolioId: 2,
      note: 'CW-000123',
      createdAt: /^\d{4}-\d\d-\d\dT.*Z$/,
    },
  })
  await source.placeOrder(ORDER, 'key')
  const all = await source.listOrders()
  if (all.outcome !== 'ok') throw new Error(all.outcome)
  t.same(
    all.value.orders.map(({ id }) => id),
    ['2', '1'],
    'newest first; the fake provider ignores idempotency keys',
  )
  for (const id of ['3', 'x', '..', '.', 'a/b', '1?', '%31', '']) {
    t.same(await source.getOrder(id), { outcome: 'ok', value: null }, id)
  }
})

t.test('reads the certificate of an order, as far as the provider has one', async (t) => {
  const { source, provider } = await startSource(t)
  await source.placeOrder({ ...ORDER, onBehalfOfName: 'Ann' }, 'key')
  const certificateUrl = `${new URL(provider.url).origin}/certificates/1`
  t.match(await source.getCertificate('1'), {
    outcome: 'ok',
    value: {
      certificateUrl,
      registryUrl: `${new URL(provider.url).origin}/retirements/1`,
      record: { id: '1', tons: ORDER.tons },
    },
  })
  t.match(await (await fetch(certificateUrl)).json(), { purchaser: 'Ann', tons: ORDER.tons })
  t.match(await source.getCertificate('7'), {
    outcome: 'ok',
    value: { certificateUrl: null, record: null },
  })
  provider.fault = 503
  t.same(await source.getCertificate('1'), { outcome: 'unreachable' })
})

t.test('rounds prices up without floating-point errors', (t) => {
  for (const [tons, price, amount] of [
    [1, 2390, 2390],
    [0.1, 2150, 215],
    [0.07, 100, 7],
    [0.0001, 2390, 1],
    [1.001, 1000, 1001],
    [1.0011, 1000, 1002],
    [1000, 40171, 40_171_000],
  ] as const) {
    const pricePerTon = { amountMinor: price, currency: 'USD' }
    t.equal(calculatePrice(tons, pricePerTon).amountMinor, amount, `${tons} × ${price}`)
  }
  t.end()
})

t.test('returns the provider’s reason for a rejection', async (t) => {
  const { source, provider } = await startSource(t, 5_000)
  for (const [order, status, message] of [
    [{ ...ORDER, portfolioId: 99 }, 400, 'There is no portfolio 99.'],
    [{ ...ORDER, tons: 0.001 }, 400, 'The total charge must be at least $1.00.'],
    [{ ...ORDER, tons: 0 }, 400, 'tons must be greater than 0'],
    [ORDER, 402, 'Insufficient credits: top up your balance.'],
  ] as const) {
    t.same(await source.placeOrder(order, 'key'), { outcome: 'refused', status, message })
  }
  provider.fault = 403
  t.match(await source.placeOrder(ORDER, 'key'), { outcome: 'refused', status: 403 })
  t.match(await source.listPortfolios(), { outcome: 'refused', status: 403 })
  provider.fault = null
  t.equal(provider.ledger.orders.length, 0)

  const clientWithWrongToken = createSource(t, provider.url, 'another-token')
  t.match(await clientWithWrongToken.listPortfolios(), { outcome: 'refused', status: 401 })
  t.match(await clientWithWrongToken.placeOrder(ORDER, 'key'), { outcome: 'refused', status: 401 })
})

t.test('shortens the provider’s messages to one line and redacts the token', async (t) => {
  const upstream = await recordingUpstream(t)
  const source = createSource(t, upstream.url)
  for (const [body, message] of [
    ['{"message":"No\\ncredit\\u0007 \\u202eleft"}', 'No credit left'],
    ['{"errorMessage":"Pay first"}', 'Pay first'],
    ['{"title":"x","detail":"Pay first"}', 'Pay first'],
    [
      `{"message":"token ${UPSTREAM_TOKEN} is poor"}`,
      `token ${'*'.repeat(UPSTREAM_TOKEN.length)} is poor`,
    ],
    [`{"message":"${'long '.repeat(500)}"}`, `${'long '.repeat(58)}long…`],
    ['{"message":{"en":"x"}}', ''],
    ['"text"', ''],
    ['null', ''],
    ['<html>', ''],
    ['', ''],
  ] as const) {
    upstream.respond = (_request, response) => response.writeHead(422).end(body)
    t.same(
      await source.listPortfolios(),
      { outcome: 'refused', status: 422, message },
      body.slice(0, 40),
    )
  }
})

// With a failing provider

t.test('distinguishes orders that were sent from orders that were not', async (t) => {
  const dry = { ...ORDER, dryRun: true }
  const away = createSource(t, `http://127.0.0.1:${await freePort()}/v1`)
  t.same(await away.listPortfolios(), { outcome: 'unreachable' })
  t.same(await away.placeOrder(ORDER, 'key'), { outcome: 'unreachable' }, 'never sent')

  const { source, provider } = await startSource(t)
  const impatient = createSource(t, provider.url, UPSTREAM_TOKEN, SHORT_TIMEOUT_MS)
  for (const fault of ['connection_reset', 'no_response', 500, 503] as const) {
    provider.fault = fault
    const sender = fault === 'no_response' ? impatient : source
    t.same(await sender.placeOrder(ORDER, 'key'), { outcome: 'unknown' }, String(fault))
    t.same(await sender.placeOrder(dry, 'key'), { outcome: 'unreachable' })
    provider.fault = null
    t.equal((await source.listPortfolios()).outcome, 'ok')
  }
  provider.fault = 'connection_reset_after_order'
  t.same(await source.placeOrder(ORDER, 'key'), { outcome: 'unknown' })
  provider.fault = null
  const found = await source.listOrders()
  t.match(
    found,
    { outcome: 'ok', value: { orders: [{ note: 'CW-000123' }], isComplete: true } },
    'placed once',
  )

  provider.latencyMs = 2 * SHORT_TIMEOUT_MS
  t.same(await impatient.placeOrder(ORDER, 'key'), { outcome: 'unknown' })
  t.same(await impatient.listOrders(), { outcome: 'unreachable' })
})

t.test('validates responses', async (t) => {
  const upstream = await recordingUpstream(t)
  const source = createSource(t, upstream.url)
  const responses = (body: string | Buffer, headers: Record<string, string> = {}, status = 200) => {
    upstream.respond = (_request, response) => response.writeHead(status, headers).end(body)
  }
  for (const body of [
    '',
    'null',
    '[]',
    '{}',
    'not json',
    '{"portfolios":{}}',
    '{"portfolios":[{}]}',
    '{"portfolios":[{"id":"1","name":"x"}]}',
    '{"portfolios":[{"id":1,"name":7}]}',
    '{"portfolios":[{"id":1,"name":"x","pricePerTonMinor":-1}]}',
    '{"portfolios":[{"id":1,"name":"x","currency":"dollars"}]}',
    '{"portfolios":[{"id":1,"name":"x","cost_per_ton":1e999}]}',
    `{"portfolios":[{"id":1,"name":"${'x'.repeat(501)}"}]}`,
  ]) {
    responses(body)
    t.same(await source.listPortfolios(), { outcome: 'invalid_response' }, body.slice(0, 50))
  }
  for (const body of [
    '',
    '{}',
    '{"id":null,"tons":1,"amountCharged":100}',
    '{"id":"","tons":1,"amountCharged":100}',
    '{"id":"  ","tons":1,"amountCharged":100}',
    '{"id":"1","tons":0,"amountCharged":100}',
    '{"id":"1","tons":1,"amountCharged":1.5}',
    '{"id":"1","tons":1,"amountCharged":-1}',
    '{"id":"1","tons":1}',
  ]) {
    responses(body)
    t.same(await source.placeOrder(ORDER, 'key'), { outcome: 'unknown' }, body)
  }
  responses(Buffer.alloc(6 * 1024 * 1024, ' '))
  t.same(await source.listPortfolios(), { outcome: 'invalid_response' }, 'too large')
  responses('{"portfolios":[]}', { 'content-encoding': 'gzip' })
  t.same(await source.listPortfolios(), { outcome: 'invalid_response' }, 'encoded')
  responses('{"portfolios":[]}', { location: 'http://evil.example' }, 302)
  t.same(await source.listPortfolios(), { outcome: 'invalid_response' }, 'a redirect')
  t.same(await source.placeOrder(ORDER, 'key'), { outcome: 'unknown' }, 'a redirect')

  responses(
    '{"portfolios":[{"id":21,"name":"Trail\\nblazer","description":null,"cost_per_ton":401.71,"image_url":"x","projects":[{"id":18,"name":"Biochar","percentage":0.2099}]}],"more":1}',
  )
  t.same(
    await source.listPortfolios(),
    {
      outcome: 'ok',
      value: [
        {
          id: 21,
          name: 'Trail blazer',
          description: null,
          pricePerTon: { amountMinor: 40_171, currency: 'USD' },
          projects: [{ id: '18', name: 'Biochar', country: null, share: 0.2099 }],
        },
      ],
    },
    'prices in dollars, and unknown fields',
  )
  responses('{"id":77,"tons":1.6,"amountCharged":6160,"currency":"eur"}')
  t.match(await source.placeOrder(ORDER, 'key'), {
    outcome: 'ok',
    value: { id: '77', amount: { amountMinor: 6160, currency: 'EUR' } },
  })
})

t.test('skips invalid portfolios and projects', async (t) => {
  const upstream = await recordingUpstream(t)
  const source = createSource(t, upstream.url)
  upstream.respond = (_request, response) =>
    response.end(
      JSON.stringify({
        portfolios: [
          { id: 1, name: 'x'.repeat(10_000) },
          null,
          { id: 2, name: 'Sound', projects: [{ id: 1 }, null, { id: 2, name: 'Reef' }] },
        ],
      }),
    )
  const { value } = (await source.listPortfolios()) as any
  t.match(value, [{ id: 2, name: 'Sound', projects: [{ name: 'Reef' }] }])
  t.equal(value.length, 1)
  t.equal(value[0].projects.length, 1)
})

t.test('detects incomplete lists of orders', async (t) => {
  const upstream = await recordingUpstream(t)
  const source = createSource(t, upstream.url)
  const isComplete = async (more: object, headers: Record<string, string> = {}) => {
    const body = JSON.stringify({ offsetOrders: [{ id: 1, tons: 1 }], ...more })
    upstream.respond = (_request, response) => response.writeHead(200, headers).end(body)
    return ((await source.listOrders()) as any).value.isComplete
  }
  for (const more of [{}, { stats: { totalTons: 9 } }, { total: 1, hasMore: false, next: null }]) {
    t.equal(await isComplete(more), true, JSON.stringify(more))
  }
  for (const more of [
    { hasMore: true, nextPage: 2 },
    { next: 'https://example.org/2' },
    { cursor: 'abc' },
    { total: 2 },
    { page: 1 },
    { meta: { pages: 3 } },
  ]) {
    t.equal(await isComplete(more), false, JSON.stringify(more))
  }
  t.equal(await isComplete({}, { link: '</v1/offset-orders?page=2>; rel="next"' }), false)
})

t.test('treats invalid HTTP as a response and does not retry', async (t) => {
  for (const nonsense of [
    'lkajsdlkj\r\n\r\n',
    'HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n'.repeat(20),
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"portfolios":[',
  ]) {
    const upstream = await rawUpstream(t, (socket) => void socket.end(nonsense))
    const source = createSource(t, upstream.url)
    t.same(await source.listPortfolios(), { outcome: 'invalid_response' }, nonsense.slice(0, 40))
    t.equal(upstream.received.length, 1, 'not retried')
    t.same(await source.placeOrder(ORDER, 'key'), { outcome: 'unknown' })
  }
})

t.test('treats only the provider’s own rejections as not placed', async (t) => {
  const upstream = await recordingUpstream(t)
  const source = createSource(t, upstream.url)
  for (const status of [
    400, 402, 404, 405, 408, 409, 410, 413, 425, 429, 451, 499, 500, 502, 503,
  ]) {
    upstream.respond = (_request, response) => response.writeHead(status).end('{"message":"no"}')
    const outcome = status === 400 || status === 402 ? 'refused' : 'unknown'
    t.match(await source.placeOrder(ORDER, 'key'), { outcome }, String(status))
    const quote = await source.placeOrder({ ...ORDER, dryRun: true }, 'key')
    const expected = status < 500 ? { outcome: 'refused', status } : { outcome: 'unreachable' }
    t.match(quote, expected, `${status} to a quote`)
  }
})

t.test('a certificate was issued with the record of another order', async (t) => {
  const upstream = await recordingUpstream(t)
  upstream.respond = (_request, response) => {
    response.end('{"id":"6","tons":3}')
  }
  const source = createSource(t, upstream.url)
  t.match(await source.getCertificate('6'), { outcome: 'ok', value: { record: { id: '6' } } })
  t.same(await source.getCertificate('5'), { outcome: 'invalid_response' })
})

t.test('searches the list if the provider has no route for a single order', async (t) => {
  const upstream = await recordingUpstream(t)
  upstream.respond = (request, response) => {
    if (request.url !== '/v1/offset-orders') response.writeHead(404)
    response.end('{"offsetOrders":[{"id":"a b","tons":2},{"id":5,"tons":3}],"stats":{}}')
  }
  const source = createSource(t, upstream.url)
  t.match(await source.getOrder('5'), { outcome: 'ok', value: { id: '5', tons: 3 } })
  t.match(await source.getOrder('a b'), {
    outcome: 'ok',
    value: { id: 'a b', amount: null },
  })
  t.same(await source.getOrder('6'), { outcome: 'ok', value: null })
  upstream.respond = (_request, response) => response.writeHead(500).end()
  t.same(await source.getOrder('5'), { outcome: 'unreachable' })
})

t.test('a certificate has only addresses of web pages, and short texts', async (t) => {
  const upstream = await recordingUpstream(t)
  const source = createSource(t, upstream.url)
  const read = async (fields: object) => {
    upstream.respond = (request, response) => {
      if (request.url === '/v1/purchases') response.writeHead(404)
      response.end(JSON.stringify({ id: '5', tons: 3, ...fields }))
    }
    const result = await source.getCertificate('5')
    if (result.outcome !== 'ok') return result
    const { certificateUrl, registryUrl, serialNumbers } = result.value
    return { certificateUrl, registryUrl, serialNumbers }
  }
  for (const certificateUrl of ['javascript:alert(1)', 'data:text/html,x', '/5', 7, null, {}]) {
    t.match(await read({ certificateUrl }), { certificateUrl: null })
  }
  t.same(
    await read({
      certificateUrl: 'https://provider.example/5',
      registryUrl: 'https://registry.example/5',
      serialNumbers: ['VCS-1', 7, '', 'two\nlines', 'x'.repeat(500)],
    }),
    {
      certificateUrl: 'https://provider.example/5',
      registryUrl: 'https://registry.example/5',
      serialNumbers: ['VCS-1', 'two lines', `${'x'.repeat(99)}…`],
    },
  )
})

t.test('sends an order exactly once', async (t) => {
  const upstream = await recordingUpstream(t)
  const source = createSource(t, upstream.url)
  await source.placeOrder(ORDER, 'order-4711')
  t.equal(upstream.requests.length, 1)
  t.match(upstream.requests[0], {
    method: 'POST',
    url: '/v1/offset-orders',
    headers: {
      authorization: `Bearer ${UPSTREAM_TOKEN}`,
      'content-type': 'application/json',
      'idempotency-key': 'order-4711',
    },
  })
  t.same(JSON.parse(upstream.requests[0]?.body ?? ''), ORDER)

  const resetting = await rawUpstream(t, (socket) => void socket.resetAndDestroy())
  const retryingSource = createSource(t, resetting.url)
  t.same(await retryingSource.placeOrder(ORDER, 'key'), { outcome: 'unknown' })
  t.equal(resetting.received.length, 1, 'an order is not retried')
  t.same(await retryingSource.listPortfolios(), { outcome: 'unreachable' })
  t.equal(resetting.received.length, 3, 'a read is')
})

t.test('does not send orders while the circuit is open', async (t) => {
  const upstream = await rawUpstream(t, (socket) => void socket.resetAndDestroy())
  const source = createSource(t, upstream.url)
  for (let i = 0; i < 5; i++) await source.placeOrder(ORDER, 'key')
  const before = upstream.received.length
  t.same(await source.placeOrder(ORDER, 'key'), { outcome: 'unreachable' }, 'not unknown')
  t.equal(upstream.received.length, before)
})

// The fake provider

t.test('proxies to the fake provider', async (t) => {
  const { provider } = await startSource(t)
  const { url } = await startApp(t, {
    ADMIN_ACCOUNTS,
    ORDERSOURCE_BASE_URL: provider.url,
    ORDERSOURCE_API_TOKEN: provider.token,
  })
  const authorization = `Bearer ${await signIn(url)}`
  const call = async (path: string, body?: unknown) => {
    const response = await fetch(`${url}/api/ordersource${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return [response.status, await response.json()] as const
  }
  t.match(await call('/portfolios'), [200, { portfolios: [{ id: 1, cost_per_ton: 23.9 }, {}, {}] }])
  t.match(await call('/offset-orders', { tons: 2 }), [
    200,
    { id: '1', amountCharged: 4780, currency: 'USD', tons: 2, portfolio: { id: 1 } },
  ])
  t.match(await call('/offset-orders'), [
    200,
    { offsetOrders: [{ id: '1' }], stats: { totalTons: 2 } },
  ])
  t.match(await call('/offset-orders/1'), [200, { id: '1', tons: 2, source: 'API' }])
  t.same(await call('/offset-orders/2'), [404, { message: 'There is no such offset order.' }])
  t.same(await call('/nothing'), [404, { message: 'Not found.' }])
  t.match(await call('/offset-orders', { tons: 'two', more: 1 }), [
    400,
    { message: 'tons must be a number' },
  ])
  t.equal((await fetch(`${provider.url}/portfolios`)).status, 401, 'requires its token')
})
