import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/app.js'
import { autoFulfil, startProvider } from '../support/guest-orders.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { startPostgres } from '../support/postgres.js'
import { startService, type Service } from '../support/service.js'
import { signIn } from '../support/sign-in.js'
import { waitFor } from '../support/wait-for.js'

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? '3')
const ORDERS_PER_ROUND = 3

const server = await startPostgres(t)
const engines: Record<string, () => Promise<NodeJS.ProcessEnv>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ DATABASE_URL: await server.createDatabase() }),
}

async function call(service: Service, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      authorization: `Bearer ${await signIn(service.url)}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

async function testCrashes(t: Test, database: NodeJS.ProcessEnv): Promise<void> {
  const provider = await startProvider(t)
  provider.latencyMs = 80
  const environment = {
    DATA_DIR: temporaryFolder(t),
    LOG_LEVEL: 'warn',
    ORDER_LIMIT_PER_CLIENT: '1000000',
    ORDERSOURCE_TIMEOUT_MS: '2000',
    ...autoFulfil(provider),
    ...database,
  }
  let service = await startService(t, environment)
  const orders: { path: string; id: string; orderNumber: string }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < ORDERS_PER_ROUND; i++) {
      const email = `guest${orders.length}@example.com`
      const path = await placeOrder(createGuest(service.url), { email })
      // IDs have gaps after a crash.
      const { items } = await call(service, 'GET', `/api/admin/orders?q=${email}`)
      const [{ id, orderNumber }] = items
      orders.push({ path, id, orderNumber })
      await call(service, 'PATCH', `/api/admin/orders/${id}`, { status: 'paid' })
    }
    // Spread over dispatching, quoting, placing, fulfilling and issuing.
    await sleep(((round + 0.5) / ROUNDS) * 2_000)
    service.process.kill('SIGKILL')
    await once(service.process, 'exit')
    service = await startService(t, environment)
  }

  /** Orders sent to the provider right before the service was killed: an administrator decides. */
  const isUnknown = async (id: string) => {
    const { items } = await call(service, 'GET', '/api/admin/orders?exception=placement_unknown')
    return items.some((order: { id: string }) => order.id === id)
  }
  let unknown = 0
  for (const { path, id, orderNumber } of orders) {
    const guest = createGuest(service.url)
    const isDone = async () => (await guest.get(path)).text.includes('Your certificate is ready')
    const placed = () =>
      provider.ledger.orders.filter(({ note }) => note?.startsWith(`${orderNumber} `)).length
    await waitFor(async () => (await isDone()) || ((await isUnknown(id)) && placed() === 0))
    if (await isDone()) t.equal(placed(), 1, `order ${id} was placed once`)
    else unknown++
  }
  await sleep(2_000)
  const numbers = provider.ledger.orders.map(({ note }) => note?.split(' ')[0])
  t.equal(new Set(numbers).size, numbers.length, 'no order was placed twice')
  t.comment(`${orders.length} orders, ${unknown} of unknown status`)
}

t.test('no paid order is lost or placed twice when the service is killed', async (t) => {
  // At the same time, because they mostly wait for leases to expire.
  t.jobs = 2
  for (const [engine, getEnvironment] of Object.entries(engines)) {
    const database = await getEnvironment()
    void t.test(engine, { buffered: true }, (t) => testCrashes(t, database))
  }
})
