import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import type { Database } from '../../src/database/database.js'
import { migratePostgres } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { copyDatabase } from '../../src/orders/store/copy-database.js'
import { foldSearchTexts } from '../../src/orders/store/store-settings.js'
import { newOrder } from '../support/order-store.js'
import { startPostgres, type PostgresServer } from '../support/postgres.js'
import { fillDatabase } from './order-data.js'
import {
  measureLatency,
  ORDERS_PATH,
  startOrderService,
  type OrderRequest,
  type OrderService,
} from './order-service.js'
import { MACHINE, writeReport } from './report.js'
import { getResidentMB, stopServers } from './servers.js'
import { quantile, round2 } from './statistics.js'
import { measureThroughput } from './throughput.js'

// PostgreSQL: latency by number of orders and compared with SQLite, several processes, sustained
// writes, and the memory that an export takes.

const MAX_ORDERS = Number(process.env.BENCH_ORDERS ?? 1_000_000)
const MIN_ORDERS = Math.min(10_000, MAX_ORDERS)
const ROUNDS = Number(process.env.BENCH_REQUESTS ?? 200)
const WARM_UP_ROUNDS = 20
const FIRST_PORT = 18_841
const PROCESSES = 4
const CLIENTS = 40
const THROUGHPUT_SECONDS = 10
const WRITES_PER_SECOND = 200
const WRITE_SECONDS = 30

const daysAgo = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

const REQUESTS: Record<string, OrderRequest> = {
  'list, first page': ORDERS_PATH,
  'list by customer': `${ORDERS_PATH}?sort=customerName`,
  'list, status and currency': `${ORDERS_PATH}?status=paid&currency=EUR&sort=-amountMinor`,
  'list, one month': `${ORDERS_PATH}?from=${daysAgo(30)}&to=${daysAgo(0)}`,
  'search, order number': `${ORDERS_PATH}?q=CW-000777`,
  'search, email': `${ORDERS_PATH}?q=nakamura4321@`,
  'search, five characters': `${ORDERS_PATH}?q=tanak`,
  'search, two characters': `${ORDERS_PATH}?q=ta`,
  'search, one character': `${ORDERS_PATH}?q=z`,
  'search, two words': `${ORDERS_PATH}?q=nakamura+example.org`,
  'search, Greek': `${ORDERS_PATH}?q=οδυσσ`,
  'search, Japanese': `${ORDERS_PATH}?q=雨宮`,
  'search, no match': `${ORDERS_PATH}?q=no+such+customer`,
  'search, all match': `${ORDERS_PATH}?q=example`,
  'statistics, 7 days': { range: '7d' },
  'statistics, 90 days': { range: '90d' },
  'statistics, all time': { range: 'all' },
}

interface Services {
  small: OrderService
  large: OrderService
  sqlite: OrderService
}

/** Compares latencies, alternating between the services. */
async function compareLatencies(services: Services) {
  const rows = []
  for (const [scenario, request] of Object.entries(REQUESTS)) {
    const latencies = { small: [] as number[], large: [] as number[], sqlite: [] as number[] }
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const name of ['small', 'large', 'sqlite'] as const) {
        const latency = await measureLatency(services[name], request)
        if (round >= 0) latencies[name].push(latency)
      }
    }
    const getP50 = (name: keyof Services) => quantile(latencies[name], 0.5)
    rows.push({
      scenario,
      [`p50, ${MIN_ORDERS}`]: round2(getP50('small')),
      [`p50, ${MAX_ORDERS}`]: round2(getP50('large')),
      'p99, ms': round2(quantile(latencies.large, 0.99)),
      'SQLite p50': round2(getP50('sqlite')),
      growth: round2(getP50('large') / getP50('small')),
      'to SQLite': round2(getP50('large') / getP50('sqlite')),
    })
  }
  return rows
}

/** CPU seconds used so far by a process and its exited children; 0 if the process has exited. */
function getCpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    // proc(5): utime, stime, cutime and cstime, in ticks
    return stat.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    return 0
  }
}

/** CPU seconds used so far by several processes. */
const sumCpuSeconds = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + getCpuSeconds(pid), 0)

/** Requests per second of one process and of several, with the CPU use of database and services. */
async function compareProcesses(services: OrderService[], server: PostgresServer) {
  const rows = []
  for (const running of [services.slice(0, 1), services]) {
    const pids = running.map(({ child }) => child.pid ?? 0)
    for (let round = 0; round < 2; round++) {
      const before = {
        database: sumCpuSeconds(server.getPids()),
        services: sumCpuSeconds(pids),
        at: performance.now(),
      }
      const rates = await Promise.all(
        running.map(({ url, headers }) =>
          measureThroughput(
            Number(new URL(url).port),
            { path: ORDERS_PATH, headers, seconds: THROUGHPUT_SECONDS },
            CLIENTS / running.length,
          ),
        ),
      )
      const seconds = (performance.now() - before.at) / 1000
      // The first round warms up.
      if (round === 0) continue
      rows.push({
        processes: running.length,
        'requests per second': Math.round(rates.reduce((sum, rate) => sum + rate, 0)),
        'cores, database': round2((sumCpuSeconds(server.getPids()) - before.database) / seconds),
        'cores, services': round2((sumCpuSeconds(pids) - before.services) / seconds),
      })
    }
  }
  return rows
}

/** Creates orders at a fixed rate through all processes, and compares the totals with a recount. */
async function measureWrites(services: OrderService[], postgres: Database) {
  const latencies: Promise<number>[] = []
  const started = performance.now()
  const body = JSON.stringify(newOrder())
  const create = async ({ url, headers }: OrderService): Promise<number> => {
    const start = performance.now()
    const response = await fetch(url + ORDERS_PATH, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    })
    await response.arrayBuffer()
    if (response.status !== 201) throw new Error(`a write failed with status ${response.status}`)
    return performance.now() - start
  }
  for (let i = 0; i < WRITES_PER_SECOND * WRITE_SECONDS; i++) {
    const service = services[i % services.length]
    if (service !== undefined) latencies.push(create(service))
    await sleep(started + ((i + 1) * 1000) / WRITES_PER_SECOND - performance.now())
  }
  const found = await Promise.all(latencies)
  const seconds = (performance.now() - started) / 1000
  const [totals] = await postgres.read((tx) =>
    tx.query<{ isExact: boolean }>(
      `SELECT counted.orders = added.orders AND counted.amount = added.amount AS "isExact"
       FROM (SELECT count(*) AS orders, sum(amount_minor) AS amount FROM orders) AS counted,
         (SELECT sum(orders) AS orders, sum(amount_minor) AS amount FROM order_totals) AS added`,
    ),
  )
  return {
    'writes per second': round2(found.length / seconds),
    'p50, ms': round2(quantile(found, 0.5)),
    'p99, ms': round2(quantile(found, 0.99)),
    'totals are exact': totals?.isExact === true,
  }
}

/** Downloads all orders as CSV. */
async function measureExport({ url, headers, child, orders }: OrderService) {
  const idleMB = getResidentMB(child)
  let [peakMB, bytes] = [idleMB, 0]
  const started = performance.now()
  const sampling = setInterval(() => (peakMB = Math.max(peakMB, getResidentMB(child))), 50)
  const response = await fetch(`${url}${ORDERS_PATH}/export?format=csv`, { headers })
  for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length
  clearInterval(sampling)
  return {
    orders,
    seconds: round2((performance.now() - started) / 1000),
    MB: Math.round(bytes / 1e6),
    'memory growth, MB': Math.round(peakMB - idleMB),
  }
}

const teardowns: (() => unknown)[] = []
const folder = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const children: ChildProcess[] = []
try {
  const server = await startPostgres(
    { teardown: (work) => teardowns.push(work) },
    { shared_buffers: '512MB', fsync: 'on' },
  )
  const fill = async (orders: number) => {
    const dataDir = join(folder, String(orders))
    await fillDatabase(dataDir, orders)
    const url = await server.createDatabase()
    const postgres = openPostgres(url, { poolSize: 2 })
    teardowns.unshift(() => postgres.close())
    await migratePostgres(postgres)
    await foldSearchTexts(postgres)
    const db = openSqliteDatabase(getDatabasePath(dataDir))
    const started = performance.now()
    await copyDatabase(db, postgres)
    console.log(`${orders} orders copied in ${Math.round((performance.now() - started) / 1000)} s`)
    await db.close()
    // As autovacuum does after a while. Continues if it exceeds the time limit of a statement.
    for (const table of ['orders', 'order_search', 'order_totals']) {
      await postgres.query(`VACUUM ANALYZE ${table}`).catch(() => undefined)
    }
    return { dataDir, url, postgres, orders }
  }
  console.log(MACHINE)
  const [small, large] = [await fill(MIN_ORDERS), await fill(MAX_ORDERS)]
  let port = FIRST_PORT
  const start = async (
    { orders, dataDir }: { orders: number; dataDir: string },
    environment: NodeJS.ProcessEnv = {},
  ): Promise<OrderService> => {
    const service = await startOrderService({ orders, dataDir }, port++, environment)
    children.push(service.child)
    return service
  }
  const services = {
    small: await start(small, { DATABASE_URL: small.url }),
    large: await start(large, { DATABASE_URL: large.url }),
    sqlite: await start(large),
  }
  const latencies = await compareLatencies(services)
  console.log('Latency over HTTP, ms:')
  console.table(latencies)
  const several = [services.large]
  while (several.length < PROCESSES) several.push(await start(large, { DATABASE_URL: large.url }))
  const processes = await compareProcesses(several, server)
  console.table(processes)
  const exported = await measureExport(services.large)
  console.table([exported])
  // Writes the copied data to disk first.
  await large.postgres.migrate((tx) => tx.query('CHECKPOINT'))
  const writes = await measureWrites(several, large.postgres)
  console.table([writes])
  writeReport('postgres', { latencies, processes, exported, writes })
} finally {
  await stopServers(children)
  for (const work of teardowns) await work()
  rmSync(folder, { recursive: true, force: true })
}
