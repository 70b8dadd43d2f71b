import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/app.js'
import { newOrder } from '../support/order-store.js'
import { startPostgres } from '../support/postgres.js'
import { startService, type Service } from '../support/service.js'
import { signIn } from '../support/sign-in.js'
import { waitFor } from '../support/wait-for.js'
import { startReceiver } from '../support/webhook-receiver.js'

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? '2')
const ORDERS_PER_ROUND = 5

async function call(service: Service, method: string, path: string, body: object): Promise<any> {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      authorization: `Bearer ${await signIn(service.url)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

async function testCrashes(t: Test, database: NodeJS.ProcessEnv): Promise<void> {
  const receiver = await startReceiver(t)
  const environment = {
    DATA_DIR: temporaryFolder(t),
    WEBHOOK_ALLOW_LOOPBACK: 'true',
    LOG_LEVEL: 'warn',
    ...database,
  }
  let service = await startService(t, environment)
  const { secret } = await call(service, 'POST', '/api/admin/webhooks', {
    url: receiver.url,
    events: ['order.created', 'order.updated'],
  })
  let verified = 0
  // What is being sent when the service is killed has no response, and is sent again.
  receiver.respond = (request, response) => {
    // At once, because old timestamps are rejected. An error ends the test.
    const recorded = receiver.requests.find(({ headers }) => headers === request.headers)
    const body = Buffer.from(recorded?.body ?? '', 'latin1').toString()
    new Webhook(secret).verify(body, request.headers as Record<string, string>)
    verified++
    setTimeout(() => response.end(), 100)
  }

  const expected: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < ORDERS_PER_ROUND; i++) {
      const order = await call(service, 'POST', '/api/admin/orders', newOrder())
      const path = `/api/admin/orders/${order.id}`
      await call(service, 'PATCH', path, { notes: 'called back' })
      expected.push(`${order.id} order.created 1`, `${order.id} order.updated 2`)
    }
    await sleep(round * 300)
    service.process.kill('SIGKILL')
    await once(service.process, 'exit')
    service = await startService(t, environment)
  }
  const getReceived = () =>
    receiver.received().map(({ event: { type, data } }) => `${data.id} ${type} ${data.version}`)
  await waitFor(async () => expected.every((event) => getReceived().includes(event)), 180_000)
  await sleep(500)
  const received = getReceived()
  t.same(new Set(received), new Set(expected), 'none is invented')
  const first = (event: string) => received.indexOf(event)
  const outOfOrder = expected.filter(
    (event) =>
      event.includes('created') && first(event) > first(event.replace('created 1', 'updated 2')),
  )
  t.same(outOfOrder, [])
  t.equal(verified, received.length, 'all are signed')
  t.comment(`${received.length} deliveries of ${expected.length} events`)
}

t.test('every committed event arrives although the service is killed', async (t) => {
  const server = await startPostgres(t)
  const databases = { SQLite: {}, PostgreSQL: { DATABASE_URL: await server.createDatabase() } }
  // At the same time, because they mostly wait for leases to expire.
  t.jobs = 2
  for (const [engine, database] of Object.entries(databases)) {
    void t.test(engine, { buffered: true }, (t) => testCrashes(t, database))
  }
})
