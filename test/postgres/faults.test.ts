import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openPostgres } from '../../src/database/postgres.js'
import type { Order } from '../../src/orders/order.js'
import { freePort } from '../support/free-port.js'
import { checkStatistics } from '../support/order-model.js'
import { newOrder } from '../support/order-store.js'
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.js'
import { startPostgres } from '../support/postgres.js'
import { startService, type Service } from '../support/service.js'
import { signIn } from '../support/sign-in.js'
import { openPostgresStore } from '../support/stores.js'
import { startTcpProxy } from '../support/tcp-proxy.js'
import { waitUntil } from '../support/wait-for.js'

const ORDERS = '/api/admin/orders'
const WRITERS = 30
const WRITES = 300
/** A longer test on request */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? '1')

/** No request may take longer, also while PostgreSQL does not respond. */
const MAX_RESPONSE_MS = 25_000

interface Faults {
  /** Of two services; they may be restarted */
  urls: readonly string[]
  /** For a direct connection */
  databaseUrl: string
  /**
   * Is called once in each round, after a third of the writes. A fault that writes can survive,
   * depending on their number, must last until one fails.
   */
  disturb: (untilWriteFails: () => Promise<void>) => Promise<void>
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/**
 * Sends writes from many clients, which repeat those without a response as real clients do. Checks
 * that every acknowledged write is there once, and that the statistics equal a recount.
 */
async function checkWrites(t: Test, { urls, databaseUrl, disturb }: Faults): Promise<void> {
  const headers = {
    ...bearer(await signIn(urls[0] ?? '')),
    'content-type': 'application/json',
  }
  let slowestMs = 0
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const isStopped = () => stop.signal.aborted
  async function call(method: string, path: string, body: unknown, key = '') {
    const url = urls[Math.floor(Math.random() * urls.length)] ?? ''
    const start = performance.now()
    try {
      const response = await fetch(url + path, {
        method,
        headers: { ...headers, ...(key === '' ? {} : { 'idempotency-key': key }) },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: (await response.json()) as Order }
    } catch {
      return { status: 0 }
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - start)
    }
  }

  /** The latest acknowledged version of each order, by key */
  const acknowledged = new Map<string, Order>()
  const statuses = new Map<number, number>()
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const countFailures = () => (statuses.get(0) ?? 0) + (statuses.get(503) ?? 0)
  for (let round = 0; round < ROUNDS; round++) {
    let [done, isOver] = [0, false]
    const write = async (): Promise<void> => {
      while (!isStopped() && (!isOver || done < WRITES)) {
        const [key, order] = [randomUUID(), newOrder({ notes: randomUUID() })]
        let created = await call('POST', ORDERS, order, key)
        while (created.body === undefined || created.status >= 300) {
          if (isStopped()) return
          count(created.status)
          await sleep(200)
          created = await call('POST', ORDERS, order, key)
        }
        count(created.status)
        acknowledged.set(key, created.body)
        done++
        const changed = await call('PATCH', `${ORDERS}/${created.body.id}`, { co2eKg: done })
        if (changed.status === 200 && changed.body) acknowledged.set(key, changed.body)
      }
    }
    const disturbLater = async () => {
      while (done < WRITES / 3 && !isStopped()) await sleep(5)
      const failures = countFailures()
      await disturb(async () => {
        t.ok(await waitUntil(() => countFailures() > failures || isStopped()), 'a write fails')
      })
      isOver = true
    }
    await Promise.all([...Array.from({ length: WRITERS }, write), disturbLater()])
  }
  t.comment(JSON.stringify({ statuses: [...statuses], slowestMs: Math.round(slowestMs) }))
  t.same(
    [...statuses.keys()].filter((status) => ![0, 200, 201, 503].includes(status)),
    [],
  )
  t.ok(countFailures() > 0, 'some writes failed')
  t.ok(slowestMs < MAX_RESPONSE_MS, `${slowestMs} ms`)

  const postgres = openPostgres(databaseUrl, { poolSize: 2 })
  t.teardown(() => postgres.close())
  const store = await openPostgresStore(postgres, '', 'UTC')
  const orders: Order[] = []
  const { total } = await store.list({}, { sort: 'orderNumber', offset: 0, limit: 1 })
  for (let offset = 0; offset < total; offset += 500) {
    const { items } = await store.list({}, { sort: 'orderNumber', offset, limit: 500 })
    orders.push(...items)
  }
  t.equal(orders.length, acknowledged.size, 'each order is there once')
  t.equal(new Set(orders.map(({ notes }) => notes)).size, acknowledged.size)
  const found = new Map(orders.map((order) => [order.id, order]))
  const lost = [...acknowledged.values()].filter(
    ({ id, version }) => (found.get(id)?.version ?? 0) < version,
  )
  t.same(lost, [], 'no acknowledged write is lost')
  await checkStatistics(store, orders, Date.now())
  const histories = await Promise.all(orders.slice(-200).map(({ id }) => store.getHistory(id)))
  t.ok(histories.every((history, i) => history?.length === orders.at(i - 200)?.version))
  for (const url of urls) {
    t.ok(await waitUntil(async () => (await fetch(`${url}/readyz`)).ok), 'is ready again')
  }
}

/** Starts two services on a database. */
async function startServices(t: Test, databaseUrl: string, poolSize = 10): Promise<Service[]> {
  const environment = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: String(poolSize),
    RATE_LIMIT_PER_MINUTE: '1000000',
    LOG_LEVEL: 'error',
  }
  return Promise.all([startService(t, environment), startService(t, environment)])
}

const getUrls = (services: Service[]) => services.map(({ url }) => url)

/** Writes a file until the disk is full. */
function fillDisk(path: string): void {
  const chunk = Buffer.alloc(64 * 1024)
  try {
    for (;;) appendFileSync(path, chunk)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

const withPort = (url: string, port: number): string => {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}

t.test('PostgreSQL crashes', async (t) => {
  const server = await startPostgres(t)
  const databaseUrl = await server.createDatabase()
  await checkWrites(t, {
    urls: getUrls(await startServices(t, databaseUrl)),
    databaseUrl,
    async disturb() {
      await server.kill()
      await sleep(100)
      await server.start()
    },
  })
})

t.test('a service crashes, with serializable transactions', async (t) => {
  const server = await startPostgres(t, { default_transaction_isolation: 'serializable' })
  const databaseUrl = await server.createDatabase()
  const environment = {
    DATABASE_URL: databaseUrl,
    PORT: String(await freePort()),
    RATE_LIMIT_PER_MINUTE: '1000000',
  }
  const [stable] = await startServices(t, databaseUrl)
  let crashing = await startService(t, environment)
  await checkWrites(t, {
    urls: [stable?.url ?? '', crashing.url],
    databaseUrl,
    async disturb() {
      crashing.process.kill('SIGKILL')
      await crashing.ended
      crashing = await startService(t, environment)
    },
  })
})

t.test('connections are cut in the middle of transactions', async (t) => {
  const server = await startPostgres(t)
  const databaseUrl = await server.createDatabase()
  const proxy = await startTcpProxy(t, server.port)
  const services = await startServices(t, withPort(databaseUrl, proxy.port))
  await checkWrites(t, {
    urls: getUrls(services),
    databaseUrl,
    async disturb(untilWriteFails) {
      proxy.isCut = () => Math.random() < 0.02
      await sleep(1_500)
      proxy.isCut = (direction) => direction === 'to client' && Math.random() < 0.05
      await sleep(1_500)
      await untilWriteFails()
      proxy.isCut = () => false
    },
  })
})

t.test('PostgreSQL freezes', async (t) => {
  const server = await startPostgres(t)
  const databaseUrl = await server.createDatabase()
  const services = await startServices(t, databaseUrl)
  await checkWrites(t, {
    urls: getUrls(services),
    databaseUrl,
    async disturb() {
      server.freeze()
      await sleep(12_000)
      server.thaw()
    },
  })
})

t.test('PostgreSQL has no free connection', async (t) => {
  const server = await startPostgres(t, {
    max_connections: '12',
    superuser_reserved_connections: '0',
  })
  const databaseUrl = await server.createDatabase()
  const services = await startServices(t, databaseUrl, 4)
  await checkWrites(t, {
    urls: getUrls(services),
    databaseUrl,
    async disturb(untilWriteFails) {
      // Connections of the services are closed, and taken before they can be replaced.
      const clients: pg.Client[] = []
      const take = async () => {
        const client = new pg.Client({ connectionString: databaseUrl, application_name: 'other' })
        client.on('error', () => undefined)
        await client.connect().then(
          () => clients.push(client),
          () => undefined,
        )
      }
      for (let tries = 0; tries < 10; tries++) {
        await Promise.all(Array.from({ length: 12 }, take))
        await clients[0]?.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name <> 'other'",
        )
      }
      await untilWriteFails()
      await Promise.all(clients.map((client) => client.end()))
    },
  })
})

t.test('the disk of PostgreSQL is full', async (t) => {
  const disk = { folder: '', isMounted: false }
  const server = await startPostgres(
    t,
    { restart_after_crash: 'off', max_wal_size: '4MB', min_wal_size: '2MB' },
    {
      prepareFolder(path) {
        disk.folder = path
        disk.isMounted =
          spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=120m', 'tmpfs', path]).status === 0
      },
    },
  )
  t.teardown(() => spawnSync('umount', ['-l', disk.folder]))
  if (!disk.isMounted) {
    t.pass('not permitted', { skip: 'this user may not mount a disk' })
    return
  }
  const databaseUrl = await server.createDatabase()
  const services = await startServices(t, databaseUrl)
  const ballast = join(disk.folder, 'ballast')
  await checkWrites(t, {
    urls: getUrls(services),
    databaseUrl,
    async disturb(untilWriteFails) {
      fillDisk(ballast)
      await untilWriteFails()
      await sleep(3_000)
      rmSync(ballast)
      if (!server.isRunning()) await server.start()
    },
  })
})

t.test('PgBouncer in transaction mode, and PostgreSQL behind it, restart', async (t) => {
  if (!hasPgBouncer()) {
    t.pass('not installed', { skip: 'PgBouncer is not installed' })
    return
  }
  const server = await startPostgres(t)
  const databaseUrl = await server.createDatabase()
  const bouncer = await startPgBouncer(t, server.port)
  const services = await startServices(t, withPort(databaseUrl, bouncer.port))
  await checkWrites(t, {
    urls: getUrls(services),
    databaseUrl,
    async disturb() {
      await bouncer.kill()
      await bouncer.start()
      await sleep(500)
      await server.kill()
      await server.start()
    },
  })
  const csv = await fetch(`${services[0]?.url}${ORDERS}/export?format=csv`, {
    headers: bearer(await signIn(services[0]?.url ?? '')),
  })
  t.ok((await csv.text()).split('\n').length > WRITES, 'CSV by a cursor')
})
