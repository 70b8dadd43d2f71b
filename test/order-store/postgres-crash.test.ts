import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { NewOrder, Order } from '../../src/orders/order.js'
import { temporaryFolder } from '../support/app.js'
import { startOrderApi } from '../support/order-api.js'
import { checkStatistics } from '../support/order-model.js'
import { newOrder } from '../support/order-store.js'
import { startPostgres } from '../support/postgres.js'
import { openPostgres } from '../../src/database/postgres.js'
import { openPostgresOrderStore } from '../../src/order-store/postgres/postgres-order-store.js'

const ORDERS = '/api/admin/orders'
const ROUNDS = 3
const WRITERS = 30
const WRITES = 300

const log = { error: () => undefined, warn: () => undefined } as never

t.test(`loses and repeats none of ${WRITES} writes while PostgreSQL crashes`, async (t) => {
  const server = await startPostgres(t)
  const url = await server.createDatabase()
  const environment = { DATABASE_URL: url, RATE_LIMIT_PER_MINUTE: '1000000' }
  const services = [
    await startOrderApi(t, { ...environment, DATA_DIR: temporaryFolder(t) }),
    await startOrderApi(t, { ...environment, DATA_DIR: temporaryFolder(t) }),
  ] as const

  /** The latest acknowledged version of each order, by key */
  const acknowledged = new Map<string, Order>()
  const statuses = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const pending: { key: string; order: NewOrder }[] = Array.from({ length: WRITES }, () => ({
      key: randomUUID(),
      order: newOrder({ notes: randomUUID() }),
    }))
    let done = 0
    const write = async (): Promise<void> => {
      for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
        const { key, order } = next
        const { call } = services[done % 2 === 0 ? 0 : 1]
        const created = await call('POST', ORDERS, order, { 'idempotency-key': key })
        statuses.set(created.status, (statuses.get(created.status) ?? 0) + 1)
        if (created.status >= 500) {
          // As a client does: the same request with the same key, later.
          pending.push(next)
          await sleep(200)
          continue
        }
        acknowledged.set(key, created.body)
        done++
        const changed = await call('PATCH', `${ORDERS}/${created.body.id}`, { co2eKg: done })
        if (changed.status === 200) acknowledged.set(key, changed.body)
      }
    }
    const crash = async () => {
      while (done < WRITES / 3) await sleep(5)
      await server.kill()
      await sleep(100)
      await server.start()
    }
    await Promise.all([...Array.from({ length: WRITERS }, write), crash()])
  }
  t.comment(JSON.stringify([...statuses]))
  t.ok((statuses.get(503) ?? 0) > 0, 'some writes met a crash')
  t.notOk(statuses.has(500))

  const postgres = openPostgres(url, { poolSize: 2 })
  t.teardown(() => postgres.close())
  const store = await openPostgresOrderStore({ postgres, url, timeZone: 'UTC', log })
  const orders: Order[] = []
  for (let offset = 0; offset < ROUNDS * WRITES; offset += 500) {
    const { items } = await store.list({}, { sort: 'orderNumber', offset, limit: 500 })
    orders.push(...items)
  }
  t.equal(orders.length, ROUNDS * WRITES, 'each order is there once')
  t.equal(new Set(orders.map(({ notes }) => notes)).size, ROUNDS * WRITES)
  const found = new Map(orders.map((order) => [order.id, order]))
  const lost = [...acknowledged.values()].filter(
    ({ id, version }) => (found.get(id)?.version ?? 0) < version,
  )
  t.same(lost, [], 'no acknowledged write is lost')
  await checkStatistics(store, orders, Date.now())
  const histories = await Promise.all(orders.slice(-200).map(({ id }) => store.getHistory(id)))
  t.ok(histories.every((history, i) => history?.length === orders.at(i - 200)?.version))
})
