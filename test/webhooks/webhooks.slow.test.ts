import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { postJson } from '../support/app.js'
import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import { freePort } from '../support/free-port.js'
import { startOrderApi, type OrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { startPostgres } from '../support/postgres.js'
import { signIn } from '../support/sign-in.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'
import { startReceiver } from '../support/webhook-receiver.js'

const PATH = '/api/admin/webhooks'
const ALL_ORDER_EVENTS = [
  'order.created',
  'order.updated',
  'order.paid',
  'order.fulfilled',
  'order.cancelled',
  'order.refunded',
]

const server = await startPostgres(t)
const ENGINES: Record<string, () => Promise<NodeJS.ProcessEnv>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ DATABASE_URL: await server.createDatabase() }),
}

const startApi = (t: Test, environment: NodeJS.ProcessEnv = {}) =>
  startOrderApi(t, { WEBHOOK_ALLOW_LOOPBACK: 'true', ...environment })

async function createEndpoint(
  { call }: OrderApi,
  url: string,
  events: string[] = ALL_ORDER_EVENTS,
): Promise<{ id: string; path: string; secret: string }> {
  const { status, body } = await call('POST', PATH, { url, events })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return { id: body.id, path: `${PATH}/${body.id}`, secret: body.secret }
}

/** Waits until all deliveries to an endpoint are finished, and returns them, newest first. */
const waitForDeliveries = ({ call }: OrderApi, path: string, count: number): Promise<any[]> =>
  waitFor(async () => {
    const { body } = await call('GET', `${path}/deliveries`)
    const finished = body.items.filter(({ state }: any) => state !== 'pending')
    return finished.length === count && body.totalItems === count && finished
  })

for (const [engine, getEnvironment] of Object.entries(ENGINES)) {
  t.test(`${engine}: delivers the events of an order, in order and verifiably`, async (t) => {
    const receiver = await startReceiver(t)
    const api = await startApi(t, await getEnvironment())
    const { path, secret } = await createEndpoint(api, receiver.url)
    const onlyPaid = await startReceiver(t)
    await createEndpoint(api, onlyPaid.url, ['order.paid'])

    const { body: order } = await api.call('POST', '/api/admin/orders', newOrder())
    const orderPath = `/api/admin/orders/${order.id}`
    for (const status of ['paid', 'fulfilled', 'refunded']) {
      await api.call('PATCH', orderPath, { status })
    }
    const { body: second } = await api.call('POST', '/api/admin/orders', newOrder())
    await api.call('DELETE', `/api/admin/orders/${second.id}`)
    await waitForDeliveries(api, path, 10)

    const typesOf = (id: string) =>
      receiver
        .received()
        .filter(({ event }) => event.data.id === id)
        .map(({ event }) => `${event.type} ${event.data.version}`)
    t.same(typesOf(order.id), [
      'order.created 1',
      'order.updated 2',
      'order.paid 2',
      'order.updated 3',
      'order.fulfilled 3',
      'order.updated 4',
      'order.refunded 4',
    ])
    t.same(typesOf(second.id), ['order.created 1', 'order.updated 2', 'order.cancelled 2'])

    const webhook = new Webhook(secret)
    for (const { body, headers, event } of receiver.received()) {
      t.same(webhook.verify(body, headers), event)
      t.equal(headers['content-type'], 'application/json')
    }
    const received = receiver.received()
    t.equal(new Set(received.map(({ id }) => id)).size, 10, 'every ID is unique')
    const latest = received.find(({ event }) => event.type === 'order.refunded')
    t.same(latest?.event.data, (await api.call('GET', orderPath)).body, 'data is the order')
    t.equal(latest?.event.timestamp, latest?.event.data.updatedAt)
    t.same(
      onlyPaid.received().map(({ event }) => [event.type, event.data.id]),
      [['order.paid', order.id]],
      'an endpoint receives only what it subscribes to',
    )
  })

  t.test(`${engine}: manages endpoints`, async (t) => {
    const api = await startApi(t, await getEnvironment())
    const { call } = api
    const created = await call('POST', PATH, {
      url: 'https://SHOP.example.com:443/old/../hooks#here',
      events: ['order.paid', 'order.paid'],
      description: 'The shop',
    })
    t.equal(created.status, 201)
    const { secret, ...endpoint } = created.body
    t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    t.match(endpoint, {
      id: /^we_[0-9a-f]{24}$/,
      url: 'https://shop.example.com/hooks',
      description: 'The shop',
      events: ['order.paid'],
      enabled: true,
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
      previousSecretExpiresAt: null,
    })
    const path = created.headers.get('location') ?? ''
    t.equal(path, `${PATH}/${endpoint.id}`)
    t.same((await call('GET', path)).body, endpoint, 'without the secret')
    t.same((await call('GET', PATH)).body, { items: [endpoint] })

    const changed = await call('PATCH', path, { enabled: false, description: '' })
    t.match(changed.body, { enabled: false, disabledReason: 'administrator', description: '' })
    t.type(changed.body.disabledAt, 'string')
    t.equal((await call('POST', `${path}/replay`, { since: '2026-01-01T00:00:00Z' })).status, 409)
    const moved = await call('PATCH', path, { url: 'HTTPS://Shop.Example.COM' })
    t.equal(moved.body.url, 'https://shop.example.com/')
    const enabled = await call('PATCH', path, { enabled: true, events: ['order.created'] })
    t.match(enabled.body, { enabled: true, disabledReason: null, events: ['order.created'] })

    const { body: rotated } = await call('POST', `${path}/rotate-secret`)
    t.not(rotated.secret, secret)
    const hours = (Date.parse(rotated.previousSecretExpiresAt) - Date.now()) / 3_600_000
    t.ok(hours > 23.9 && hours <= 24)

    t.equal((await call('DELETE', path)).status, 204)
    for (const [method, address, body] of [
      ['GET', path],
      ['PATCH', path, {}],
      ['DELETE', path],
      ['POST', `${path}/test`],
      ['POST', `${path}/rotate-secret`],
      ['GET', `${path}/deliveries`],
      ['POST', `${path}/deliveries/msg_1/replay`],
      ['POST', `${path}/replay`, { since: '2026-01-01T00:00:00Z' }],
    ] as const) {
      t.equal((await call(method, address, body)).status, 404, `${method} ${address}`)
    }
  })

  t.test(`${engine}: replays deliveries with the same ID`, async (t) => {
    const receiver = await startReceiver(t)
    const api = await startApi(t, await getEnvironment())
    const { path } = await createEndpoint(api, receiver.url, ['order.created'])
    const since = new Date().toISOString()
    await api.call('POST', '/api/admin/orders', newOrder())
    const [first] = await waitForDeliveries(api, path, 1)
    t.match(first, { type: 'order.created', state: 'sent', nextAttemptAt: null })
    t.match(first.attempts, [{ status: 200, detail: '{}' }])

    const replayed = await api.call('POST', `${path}/deliveries/${first.id}/replay`)
    t.match(replayed, { status: 202, body: { id: first.id, state: 'pending' } })
    await waitFor(async () => receiver.requests.length === 2)
    await waitForDeliveries(api, path, 1)
    const replay = (body: object) => api.call('POST', `${path}/replay`, body)
    t.same((await replay({ since, failedOnly: true })).body, { replayed: 0 })
    t.same((await replay({ since: '2199-01-01T00:00:00Z' })).body, { replayed: 0 })
    t.same((await replay({ since })).body, { replayed: 1 })
    await waitFor(async () => receiver.requests.length === 3)
    t.same(new Set(receiver.received().map(({ id }) => id)), new Set([first.id]))
    const [last] = await waitForDeliveries(api, path, 1)
    t.equal(last.attempts.length, 3)

    const other = await createEndpoint(api, receiver.url)
    const foreign = await api.call('POST', `${other.path}/deliveries/${first.id}/replay`)
    t.equal(foreign.status, 404, 'of another endpoint')
  })
}

t.test('rejects invalid endpoints, with all errors', async (t) => {
  const { call } = await startOrderApi(t)
  for (const url of [
    'http://shop.example.com',
    'http://127.0.0.1:3000',
    'https://localhost',
    'https://10.0.0.1',
    'https://user:secret@shop.example.com',
    `https://shop.example.com/${'x'.repeat(2048)}`,
    'nothing',
  ]) {
    const { status, body } = await call('POST', PATH, { url, events: [], description: 'a\u0000b' })
    t.equal(status, 422, url)
    t.same(
      body.errors.map(({ path }: { path: string }) => path).toSorted(),
      ['description', 'events', 'url'],
      url,
    )
    t.notMatch(JSON.stringify(body), 'user:secret')
  }
  const url = 'https://shop.example.com'
  const unknown = await call('POST', PATH, { url, events: ['order.eaten'], secret: 'x' })
  t.match(unknown, { status: 422 })
  t.match(unknown.body.detail, /events\.0 must be one of order\.created/)
  t.match(unknown.body.detail, /secret is not a known field/)
})

t.test('the number of endpoints is limited', async (t) => {
  const { call } = await startOrderApi(t)
  const endpoint = { url: 'https://shop.example.com', events: ['order.paid'] }
  const statuses = []
  for (let i = 0; i <= 50; i++) statuses.push((await call('POST', PATH, endpoint)).status)
  t.same([statuses.filter((status) => status === 201).length, statuses.at(-1)], [50, 409])
})

t.test('sends generated QR codes to those who subscribe', async (t) => {
  const receiver = await startReceiver(t)
  const others = await startReceiver(t)
  const api = await startApi(t)
  const { path } = await createEndpoint(api, receiver.url, ['qr_code.generated'])
  await createEndpoint(api, others.url)
  const code = await api.call('POST', '/api/qr-code/generate', {
    calculatorType: 'custom',
    calculatorData: { amount: 1, unit: 't' },
    vessel: { name: 'Eendracht' },
  })
  const page = `${api.url}/qr-test?calculatorType=custom&custom.amount=2&vessel.name=`
  await fetch(`${page}Anonymous`)
  await postJson(`${api.url}/api/qr-code/generate`, {
    ...TYPICAL_CALCULATIONS.custom,
    vessel: { name: 'Anonymous' },
  })
  const authorization = `Bearer ${await signIn(api.url)}`
  await fetch(`${page}Second`, { headers: { authorization } })
  await waitForDeliveries(api, path, 2)
  t.same(
    receiver
      .received()
      .map(({ event }) => event.data.vessel.name)
      .toSorted(),
    ['Eendracht', 'Second'],
  )
  const { url, generatedAt, expiresAt } = code.body
  t.match(receiver.received().find(({ event }) => event.data.vessel.name === 'Eendracht')?.event, {
    type: 'qr_code.generated',
    timestamp: generatedAt,
    data: {
      calculatorType: 'custom',
      calculatorData: { amount: 1, unit: 't' },
      url,
      generatedAt,
      expiresAt,
    },
  })
  t.equal(others.requests.length, 0)
})

t.test('the QR codes that wait for an endpoint are limited, and delay no order', async (t) => {
  const receiver = await startReceiver(t)
  const api = await startApi(t, { QR_RATE_LIMIT_PER_MINUTE: '10000' })
  const { id } = await createEndpoint(api, receiver.url, ['qr_code.generated', 'order.created'])
  // Answers nothing until the order waits, so that all QR codes wait before it.
  let answer = () => {}
  const isAnswered = new Promise<void>((resolve) => (answer = resolve))
  receiver.respond = (_request, response) =>
    void isAnswered.then(() => response.writeHead(500).end())
  const { body: key } = await api.call('POST', '/api/admin/api-keys', {
    name: 'Printer',
    scopes: ['qr:write'],
  })
  const code = { ...TYPICAL_CALCULATIONS.custom, vessel: { name: 'Eendracht' } }
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`${api.url}/api/qr-codes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ codes: Array.from({ length: 400 }, () => code) }),
    })
    t.equal((await response.arrayBuffer()).byteLength > 0, true)
  }
  await waitFor(async () =>
    api.log.some(
      ({ endpoint, msg }) =>
        endpoint === id && msg === 'too many deliveries wait: QR codes are not sent',
    ),
  )
  const countMessages = async (type: string): Promise<number | undefined> => {
    const [row] = await api.app.database.query<{ count: number }>(
      'SELECT count(*) AS count FROM outbox WHERE type = ?',
      [type],
    )
    return row?.count
  }
  t.equal(await countMessages('qr_code.generated'), 1000)
  await api.call('POST', '/api/admin/orders', newOrder())
  await waitForEqual(t, () => countMessages('order.created'), 1)
  answer()
  const isOrder = ({ event }: { event: { type: string } }) => event.type === 'order.created'
  await waitFor(async () => receiver.received().some(isOrder))
  const sent = receiver.received().findIndex(isOrder)
  t.ok(sent < 100, `${sent} QR codes were sent before the order`)
})

t.test('410 disables an endpoint and cancels its deliveries', async (t) => {
  const receiver = await startReceiver(t)
  const api = await startApi(t)
  const { path, id } = await createEndpoint(api, receiver.url, ['order.created'])
  receiver.respond = (_request, response) => response.writeHead(410).end('moved away')
  await api.call('POST', '/api/admin/orders', newOrder())
  await waitFor(async () => !(await api.call('GET', path)).body.enabled)
  t.match((await api.call('GET', path)).body, { disabledReason: 'gone' })
  const [failed] = await waitForDeliveries(api, path, 1)
  t.match(failed, { state: 'failed', attempts: [{ status: 410, detail: 'moved away' }] })
  t.ok(
    api.log.some(({ endpoint, reason }) => endpoint === id && reason === 'gone'),
    'is logged',
  )
  const { path: other } = await createEndpoint(api, (await startReceiver(t)).url, ['order.created'])
  await api.call('POST', '/api/admin/orders', newOrder())
  await waitForDeliveries(api, other, 1) // until the event was dispatched
  await api.call('PATCH', path, { enabled: true })
  receiver.respond = (_request, response) => response.end()
  await api.call('POST', '/api/admin/orders', newOrder())
  await waitForDeliveries(api, path, 2)
  t.equal(receiver.requests.length, 2, 'events while it is disabled are not sent')
})

t.test('an order with long texts fits in 20 kB', async (t) => {
  const receiver = await startReceiver(t)
  const api = await startApi(t)
  const { path } = await createEndpoint(api, receiver.url, ['order.created'])
  const notes = '🚢'.repeat(10_000)
  const { status } = await api.call('POST', '/api/admin/orders', { ...newOrder(), notes })
  t.equal(status, 201)
  await waitForDeliveries(api, path, 1)
  const [received] = receiver.received()
  t.ok(Buffer.byteLength(received?.body ?? '') < 20_000)
  t.match(received?.event.data.notes, /^(?:🚢){4000,}…$/u)
})

t.test('secrets and URLs are in no log', async (t) => {
  const receiver = await startReceiver(t)
  const api = await startApi(t, { LOG_LEVEL: 'trace' })
  const { path, secret } = await createEndpoint(api, `${receiver.url}?token=canary`)
  const rotated = await api.call('POST', `${path}/rotate-secret`)
  receiver.respond = (_request, response) => response.writeHead(410).end()
  await api.call('POST', `${path}/test`)
  await waitForDeliveries(api, path, 1)
  const text = JSON.stringify(api.log)
  for (const each of [secret, rotated.body.secret as string, 'canary']) {
    t.notOk(text.includes(each.replace('whsec_', '')))
  }
  for (const page of [path, PATH, `${path}/deliveries`, '/openapi.json', '/metrics']) {
    const response = await api.call('GET', page).catch(() => ({ body: '' }))
    t.notMatch(JSON.stringify(response.body), rotated.body.secret.slice(6))
  }
})

t.test('counts attempts by outcome', async (t) => {
  const receiver = await startReceiver(t)
  const api = await startApi(t)
  const { path } = await createEndpoint(api, receiver.url)
  const sent = await api.call('POST', `${path}/test`)
  t.match(sent, { status: 202, body: { type: 'webhook.test', state: 'pending' } })
  await waitForDeliveries(api, path, 1)
  receiver.respond = (_request, response) => response.writeHead(410).end()
  await api.call('POST', `${path}/test`)
  await waitForDeliveries(api, path, 2)
  await waitFor(async () => {
    const metrics = await (await fetch(`${api.url}/metrics`)).text()
    const count = (outcome: string) =>
      `clearwake_webhook_deliveries_total{outcome="${outcome}"} 1\n`
    return metrics.includes(count('sent')) && metrics.includes(count('rejected'))
  })
})

t.test('the receiver of the documentation works', async (t) => {
  const [, code = ''] =
    /```js\n(.*?)```/s.exec(readFileSync(join(projectRoot, 'docs/webhooks.md'), 'utf8')) ?? []
  const port = await freePort()
  const api = await startApi(t)
  const { path, secret } = await createEndpoint(api, `http://localhost:${port}/`)
  const example = spawn(
    process.execPath,
    ['--input-type=module', '-e', code.replace('4000', String(port))],
    { cwd: projectRoot, env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret } },
  )
  t.teardown(() => example.kill('SIGKILL'))
  let output = ''
  example.stdout.on('data', (part: Buffer) => (output += part.toString()))
  await waitFor(async () => fetch(`http://127.0.0.1:${port}`).catch(() => null))
  await api.call('POST', `${path}/test`)
  const [delivery] = await waitForDeliveries(api, path, 1)
  t.match(delivery, { state: 'sent', attempts: [{ status: 200 }] })
  t.match(output, /^webhook\.test \{/)
})

t.test('an API key needs the scope webhooks:manage', async (t) => {
  const { call, url } = await startOrderApi(t)
  for (const [scope, status] of [
    ['orders:write', 403],
    ['webhooks:manage', 200],
  ] as const) {
    const { body } = await call('POST', '/api/admin/api-keys', { name: scope, scopes: [scope] })
    const headers = { authorization: `Bearer ${body.key}` }
    t.equal((await fetch(url + PATH, { headers })).status, status, scope)
  }
})

t.test('a key without orders:read received and replayed orders through webhooks', async (t) => {
  const { call, url } = await startApi(t)
  const receiver = await startReceiver(t)
  const callWith = async (scopes: string[]) => {
    const { body } = await call('POST', '/api/admin/api-keys', { name: scopes.join(), scopes })
    return (method: string, path: string, json?: object) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${body.key}`, 'content-type': 'application/json' },
        body: json === undefined ? null : JSON.stringify(json),
      })
  }
  const [manager, reader] = [
    await callWith(['webhooks:manage']),
    await callWith(['webhooks:manage', 'orders:read']),
  ]
  const ofOrders = { url: receiver.url, events: ['qr_code.generated', 'order.paid'] }
  t.equal((await manager('POST', PATH, ofOrders)).status, 403)
  const ofCodes = { ...ofOrders, events: ['qr_code.generated'] }
  const created = await manager('POST', PATH, ofCodes)
  t.equal(created.status, 201)
  const own = `${PATH}/${((await created.json()) as { id: string }).id}`
  t.equal((await manager('PATCH', own, { events: ['order.paid'] })).status, 403)
  t.equal((await manager('PATCH', own, { description: 'Codes' })).status, 200)

  const other = await reader('POST', PATH, ofOrders)
  t.equal(other.status, 201)
  const path = `${PATH}/${((await other.json()) as { id: string }).id}`
  t.equal((await manager('PATCH', path, { url: `${receiver.url}/thief` })).status, 403)
  t.equal((await manager('GET', `${path}/deliveries`)).status, 403)
  const replay = { since: '2026-01-01T00:00:00Z' }
  t.equal((await manager('POST', `${path}/replay`, replay)).status, 403)
  t.equal((await manager('POST', `${path}/deliveries/x/replay`)).status, 403)
  t.equal((await reader('GET', `${path}/deliveries`)).status, 200)
  t.equal((await reader('POST', `${path}/replay`, replay)).status, 202)
})

t.test('the OpenAPI document describes the requests', async (t) => {
  const { url } = await startOrderApi(t)
  const document: any = await (await fetch(`${url}/openapi.json`)).json()
  t.same(Object.keys(document.webhooks), [...ALL_ORDER_EVENTS, 'qr_code.generated'])
  t.ok(document.paths[`${PATH}/{id}/deliveries/{deliveryId}/replay`].post)
})
