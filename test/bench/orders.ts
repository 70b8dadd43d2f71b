import { once } from 'node:events'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { openReadOnly } from '../../src/database/open-database.js'
import { calculateDashboardStats } from '../../src/orders/dashboard-stats.js'
import { openFileStore } from '../support/stores.js'
import { compareExports, measureLatencyDuringExports } from './exports.js'
import { fillDatabase } from './order-data.js'
import {
  measureLatency,
  ORDERS_PATH,
  startOrderService,
  type OrderDatabase,
  type OrderRequest,
  type OrderService,
} from './order-service.js'
import { MACHINE, writeReport } from './report.js'
import { getResidentMB, stopServers } from './servers.js'
import { median, quantile, round2 } from './statistics.js'

// Latency by number of orders; the order store relative to plain SQL; and exports of all orders
// relative to bare ones: duration, memory, and the latency of concurrent requests.

const MAX_ORDERS = Number(process.env.BENCH_ORDERS ?? 1_000_000)
const SIZES = [...new Set([10_000, 100_000, MAX_ORDERS].map((size) => Math.min(size, MAX_ORDERS)))]
const ROUNDS = Number(process.env.BENCH_REQUESTS ?? 200)
const WARM_UP_ROUNDS = 20
const FIRST_PORT = 18_811
const SQL_TARGET = 2
const DAY_MS = 86_400_000

const daysAgo = (days: number): string =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

const REQUESTS: Record<string, OrderRequest> = {
  'list, first page': ORDERS_PATH,
  'list by customer': `${ORDERS_PATH}?sort=customerName`,
  'list, status and currency': `${ORDERS_PATH}?status=paid&currency=EUR&sort=-amountMinor`,
  'list, one month': `${ORDERS_PATH}?from=${daysAgo(30)}&to=${daysAgo(0)}`,
  'search, order number': `${ORDERS_PATH}?q=CW-000777`,
  'search, email': `${ORDERS_PATH}?q=nakamura4321@`,
  'search, two words': `${ORDERS_PATH}?q=nakamura+example.org`,
  'search, Japanese': `${ORDERS_PATH}?q=雨宮`,
  'search, no match': `${ORDERS_PATH}?q=no+such+customer`,
  'statistics, 7 days': { range: '7d' },
  'statistics, 30 days': { range: '30d' },
  'statistics, 90 days': { range: '90d' },
  'statistics, all time': { range: 'all' },
}

/** Compares the latency of each request across the services, alternating between them. */
async function compareSizes(services: OrderService[]) {
  const rows = []
  for (const [scenario, request] of Object.entries(REQUESTS)) {
    const latencies: number[][] = services.map(() => [])
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const [i, service] of services.entries()) {
        const latency = await measureLatency(service, request)
        if (round >= 0) latencies[i]?.push(latency)
      }
    }
    const getQuantiles = (fraction: number) =>
      latencies.map((values) => round2(quantile(values, fraction)))
    const getRatio = (values: number[]) => round2((values.at(-1) ?? NaN) / (values[0] ?? NaN))
    const [p50, p99] = [getQuantiles(0.5), getQuantiles(0.99)]
    rows.push({ scenario, p50, p99, 'p50 ratio': getRatio(p50), 'p99 ratio': getRatio(p99) })
  }
  return rows
}

/** Compares the order store, in this process, with plain SQL on the same database. */
async function compareWithSql({ orders, dataDir }: OrderDatabase) {
  const path = getDatabasePath(dataDir)
  const store = await openFileStore({ path, timeZone: 'UTC' })
  const db = openReadOnly(path)
  const page = db.prepare('SELECT * FROM orders ORDER BY placed_at DESC, id DESC LIMIT 25')
  const count = db.prepare('SELECT count(*) FROM orders')
  const sums = db.prepare(`
    SELECT placed_at / ${DAY_MS} AS day, status, currency, count(*), sum(co2e_kg), sum(amount_minor)
    FROM orders WHERE placed_at >= ? GROUP BY 1, 2, 3`)
  const since = Date.now() - 30 * DAY_MS
  const queries: Record<string, { clearwake: () => unknown; sql: () => unknown }> = {
    'list: one page and the count': {
      clearwake: () => store.list({}, { sort: '-placedAt', offset: 0, limit: 25 }),
      sql: () => [page.all(), count.get()],
    },
    'statistics of 30 days': {
      clearwake: () => calculateDashboardStats(store, { range: '30d' }, Date.now()),
      sql: () => sums.all(since),
    },
  }
  const measure = async (query: () => unknown): Promise<number> => {
    const started = performance.now()
    await query()
    return performance.now() - started
  }
  const rows = []
  try {
    for (const [scenario, query] of Object.entries(queries)) {
      const times = { clearwake: [] as number[], sql: [] as number[] }
      for (let round = -5; round < Math.min(ROUNDS, 50); round++) {
        const [clearwake, sql] = [await measure(query.clearwake), await measure(query.sql)]
        if (round < 0) continue
        times.clearwake.push(clearwake)
        times.sql.push(sql)
      }
      const [clearwake, sql] = [median(times.clearwake), median(times.sql)]
      rows.push({
        scenario,
        orders,
        'clearwake, ms': round2(clearwake),
        'SQL, ms': round2(sql),
        ratio: Number((clearwake / sql).toPrecision(2)),
        target: SQL_TARGET,
      })
    }
  } finally {
    db.close()
    await store.close()
  }
  return rows
}

/** Reads a database file into the file cache, so that the first export is not the slowest. */
async function warmFileCache(dataDir: string): Promise<void> {
  await once(createReadStream(getDatabasePath(dataDir)).resume(), 'close')
}

const folder = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const databases = SIZES.map((orders) => ({ orders, dataDir: join(folder, String(orders)) }))
const services: OrderService[] = []
try {
  const started = performance.now()
  for (const { dataDir, orders } of databases) await fillDatabase(dataDir, orders)
  const importSeconds = round2((performance.now() - started) / 1000)
  console.log(`${MACHINE}; ${SIZES.join(', ')} orders imported in ${importSeconds} s`)
  for (const [i, database] of databases.entries()) {
    services.push(await startOrderService(database, FIRST_PORT + i))
  }
  const latencies = await compareSizes(services)
  console.log('Latency by the number of orders, ms; ratio of the largest to the smallest store:')
  console.table(latencies)
  const sql = []
  for (const database of databases) sql.push(...(await compareWithSql(database)))
  console.log('Order store and plain SQL:')
  console.table(sql)
  const exports = []
  const latenciesDuringExports = []
  for (const service of services) {
    await warmFileCache(service.dataDir)
    const idleMB = getResidentMB(service.child)
    exports.push(...(await compareExports(service, idleMB)))
    latenciesDuringExports.push(...(await measureLatencyDuringExports(service, idleMB)))
  }
  console.log('Exports of all orders:')
  console.table(exports)
  console.log('Latency of other requests during exports:')
  console.table(latenciesDuringExports)
  writeReport('orders', {
    sizes: SIZES,
    rounds: ROUNDS,
    importSeconds,
    latencies,
    sql,
    exports,
    latenciesDuringExports,
  })
} finally {
  await stopServers(services.map(({ child }) => child))
  rmSync(folder, { recursive: true, force: true })
}
