import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { Registry } from 'prom-client'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { Database } from '../../src/database/database.js'
import { createFirstVersion } from '../../src/orders/change-order.js'
import { createOutboxWorker } from '../../src/outbox/outbox.js'
import { createEndpoints } from '../../src/webhooks/endpoints.js'
import { SECRET } from '../support/app.js'
import { startDatabases } from '../support/databases.js'
import { newOrder } from '../support/order-store.js'
import { runOutbox } from '../support/run-outbox.js'
import { waitFor } from '../support/wait-for.js'
import { startReceiver } from '../support/webhook-receiver.js'

const BY = { actor: 'ann@example.com', address: null }

const { log } = Fastify()
const DAY_MS = 24 * 60 * 60 * 1000
const EVENTS = ['order.created' as const]

interface Options {
  retryDelaysMs?: number[]
  sessionSecrets?: [string, ...string[]]
  timeoutMs?: number
}

/** Starts webhooks that are sent every 5 ms, with a clock that tests set. */
function start(
  t: Test,
  database: Database,
  { retryDelaysMs = [1, 1], sessionSecrets = [SECRET], timeoutMs = 10_000 }: Options = {},
) {
  const clock = { now: Date.now() }
  const webhooks = createEndpoints({
    database,
    config: { sessionSecrets, WEBHOOK_ALLOW_LOOPBACK: true },
    log,
    metrics: new Registry(),
    now: () => clock.now,
    retryDelaysMs,
    delivery: { timeoutMs },
  })
  const worker = createOutboxWorker(database, log)
  worker.addSender(webhooks.sender)
  const stopOutbox = runOutbox(t, worker)
  const stop = async () => {
    await stopOutbox()
    await webhooks.close()
  }
  t.teardown(stop)

  async function addEndpoint(url: string) {
    const created = await webhooks.create({ url, events: [...EVENTS] }, BY)
    return { id: created.endpoint.id, secret: created.secret }
  }

  /** Emits the creation of an order. */
  const emit = (orderId: string, notes = '') =>
    database.write((tx) => {
      const at = new Date().toISOString()
      const first = createFirstVersion(newOrder({ notes }), at)
      const order = { ...first, id: orderId, orderNumber: `CW-${orderId}` }
      return webhooks.consume(tx, { id: 1, at, previousStatus: null, order })
    })

  const getStates = async (id: string) => {
    const { items } = await webhooks.listDeliveries(id, { limit: 100, offset: 0 })
    return items.map(({ message }) => message.state)
  }
  const waitUntilFinished = (id: string) =>
    waitFor(async () => {
      const states = await getStates(id)
      return states.length > 0 && !states.includes('pending') && states
    })
  return { webhooks, clock, addEndpoint, emit, getStates, waitUntilFinished, stop }
}

const databases = await startDatabases(t)
for (const [engine, open] of Object.entries(databases)) {
  t.test(`${engine}: retries with the same ID, and keeps the order of an order`, async (t) => {
    const [database] = await open(t)
    const receiver = await startReceiver(t)
    const { addEndpoint, emit, waitUntilFinished, webhooks } = start(t, database, {
      retryDelaysMs: [100, 1],
    })
    const { id, secret } = await addEndpoint(receiver.url)
    let failures = 0
    receiver.respond = (_request, response) => {
      const isFirst = receiver.received().at(-1)?.event.data.notes === 'first'
      response.writeHead(isFirst && ++failures <= 2 ? 500 : 200).end()
    }
    await emit('1', 'first')
    await sleep(2)
    await emit('1', 'second')
    await emit('2', 'other')
    t.same(await waitUntilFinished(id), ['sent', 'sent', 'sent'])
    const received = receiver.received()
    t.same(
      received.map(({ event }) => event.data.notes).filter((notes) => notes !== 'other'),
      ['first', 'first', 'first', 'second'],
    )
    t.same(
      new Set(received.filter(({ event }) => event.data.notes === 'first').map((one) => one.id))
        .size,
      1,
    )
    for (const { body, headers } of received) new Webhook(secret).verify(body, headers)
    t.equal((await webhooks.get(id)).failingSince, null, 'it works again')
  })

  t.test(`${engine}: an event that is seen twice is sent once`, async (t) => {
    const [database] = await open(t)
    const receiver = await startReceiver(t)
    const { addEndpoint, webhooks, waitUntilFinished } = start(t, database)
    const { id } = await addEndpoint(receiver.url)
    const at = new Date().toISOString()
    const order = { ...createFirstVersion(newOrder(), at), id: '1', orderNumber: 'CW-1' }
    const event = { id: 1, at, previousStatus: null, order }
    await database.write((tx) => webhooks.consume(tx, event))
    await database.write((tx) => webhooks.consume(tx, { ...event, id: 2 }))
    t.same(await waitUntilFinished(id), ['sent'])
    const later = new Date(Date.parse(at) + 1).toISOString()
    const edited = { ...event, order: { ...order, updatedAt: later } }
    await database.write((tx) => webhooks.consume(tx, edited))
    t.same(await waitUntilFinished(id), ['sent', 'sent'], 'but not another edit with its version')
  })

  t.test(`${engine}: an endpoint that fails for 5 days is disabled`, async (t) => {
    const [database] = await open(t)
    const receiver = await startReceiver(t)
    const { addEndpoint, emit, waitUntilFinished, webhooks, clock, getStates } = start(t, database)
    const { id } = await addEndpoint(receiver.url)
    receiver.respond = (_request, response) => response.writeHead(500).end()
    const startedAt = clock.now
    await emit('1')
    t.same(await waitUntilFinished(id), ['failed'])
    t.match(await webhooks.get(id), { failingSince: startedAt, disabledReason: null })

    clock.now = startedAt + 5 * DAY_MS - 1
    await emit('2')
    await waitUntilFinished(id)
    t.match(await webhooks.get(id), { failingSince: startedAt, disabledReason: null })

    clock.now++
    await emit('3')
    await waitFor(async () => (await webhooks.get(id)).disabledReason === 'failing')
    await emit('4')
    await waitUntilFinished(id)
    t.equal((await getStates(id)).length, 3, 'receives nothing')

    receiver.respond = (_request, response) => response.end()
    await webhooks.update(id, { enabled: true }, BY)
    t.match(await webhooks.get(id), { failingSince: null, disabledReason: null })
    t.equal(await webhooks.replaySince(id, { since: 0, failedOnly: true }), 3)
    await waitFor(async () => (await getStates(id)).every((state) => state === 'sent'))
  })

  t.test(`${engine}: an endpoint that hangs does not delay another`, async (t) => {
    const [database] = await open(t)
    const hanging = await startReceiver(t)
    const receiver = await startReceiver(t)
    const { addEndpoint, emit, waitUntilFinished, webhooks } = start(t, database, {
      timeoutMs: 60_000,
    })
    hanging.respond = () => undefined
    const { id: hangingId } = await addEndpoint(hanging.url)
    const { id } = await addEndpoint(receiver.url)
    for (let order = 1; order <= 15; order++) await emit(String(order))
    t.equal((await waitUntilFinished(id)).length, 15)
    await waitFor(async () => hanging.requests.length === 10)
    await sleep(100)
    t.equal(hanging.requests.length, 10, 'and has a limit of its own')
    await webhooks.update(hangingId, { enabled: false }, BY)
    t.match(new Set(await waitUntilFinished(hangingId)), new Set(['cancelled']))
  })
}

const open = databases.SQLite

t.test('a new session secret keeps the secrets of endpoints', async (t) => {
  const [database] = await open(t)
  const receiver = await startReceiver(t)
  const first = start(t, database)
  const { id, secret } = await first.addEndpoint(receiver.url)
  await first.stop()
  const [row] = await database.query<{ secret: string }>('SELECT secret FROM webhook_endpoints')
  t.notOk(row?.secret.includes(secret.slice(6)), 'they are encrypted')

  const other = 'another secret for tests, of more than 32 bytes'
  const second = start(t, database, { sessionSecrets: [other, SECRET] })
  await second.emit('1')
  await second.waitUntilFinished(id)
  await second.webhooks.encryptSecretsAgain()
  await second.stop()

  const third = start(t, database, { sessionSecrets: [other] })
  await third.emit('2')
  await third.waitUntilFinished(id)
  await third.stop()
  t.equal(receiver.requests.length, 2)
  for (const { body, headers } of receiver.received()) new Webhook(secret).verify(body, headers)

  const lost = start(t, database, { sessionSecrets: [SECRET], retryDelaysMs: [] })
  await lost.emit('3')
  t.same(await lost.waitUntilFinished(id), ['failed', 'sent', 'sent'])
  const { items } = await lost.webhooks.listDeliveries(id, { limit: 1, offset: 0 })
  t.match(items[0]?.attempts, [{ detail: /SESSION_SECRET has changed/ }])
  const rotated = await lost.webhooks.rotateSecret(id, BY)
  await lost.emit('4')
  await waitFor(async () => receiver.requests.length === 3)
  const latest = receiver.received().at(-1)
  new Webhook(rotated.secret).verify(latest?.body ?? '', latest?.headers ?? {})
})

t.test('the previous secret expires after 24 hours', async (t) => {
  const [database] = await open(t)
  const receiver = await startReceiver(t)
  const { addEndpoint, emit, waitUntilFinished, webhooks, clock } = start(t, database)
  const { id, secret } = await addEndpoint(receiver.url)
  const rotated = await webhooks.rotateSecret(id, BY)
  for (const [order, elapsedMs] of [
    ['1', 0],
    ['2', DAY_MS - 1],
    ['3', 1],
  ] as const) {
    clock.now += elapsedMs
    await emit(order)
    await waitUntilFinished(id)
  }
  const counts = receiver
    .received()
    .map(({ headers }) => headers['webhook-signature']?.split(' ').length)
  t.same(counts, [2, 2, 1])
  const [first] = receiver.received()
  for (const each of [secret, rotated.secret]) {
    new Webhook(each).verify(first?.body ?? '', first?.headers ?? {})
  }
})

t.test('a test event is sent once, also to a disabled endpoint', async (t) => {
  const [database] = await open(t)
  const receiver = await startReceiver(t)
  receiver.respond = (_request, response) => response.writeHead(500).end()
  const { addEndpoint, waitUntilFinished, webhooks } = start(t, database)
  const { id } = await addEndpoint(receiver.url)
  await webhooks.update(id, { enabled: false }, BY)
  await webhooks.sendTest(id)
  t.same(await waitUntilFinished(id), ['failed'])
  t.equal(receiver.requests.length, 1)
  t.equal((await webhooks.get(id)).failingSince, null)
})

t.test('a deleted endpoint receives nothing', async (t) => {
  const [database] = await open(t)
  const receiver = await startReceiver(t)
  const { addEndpoint, emit, webhooks } = start(t, database)
  const { id } = await addEndpoint(receiver.url)
  const { id: other } = await addEndpoint(receiver.url)
  await webhooks.delete(id, BY)
  await emit('1')
  await waitFor(async () => receiver.requests.length === 1)
  await sleep(50)
  t.equal(receiver.requests.length, 1)
  t.same(
    (await webhooks.list()).map((endpoint) => endpoint.id),
    [other],
  )
})
