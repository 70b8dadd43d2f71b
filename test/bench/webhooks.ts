import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { enqueueMessage } from '../../src/outbox/messages.js'
import { buildOrderMessage } from '../../src/webhooks/webhook-message.js'
import { newOrder } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { fillDatabase } from './order-data.js'
import { ORDERS_PATH, startOrderService, type OrderService } from './order-service.js'
import { MACHINE, writeReport } from './report.js'
import { stopServers } from './servers.js'
import { quantile, round2 } from './statistics.js'

// Latency of requests while webhooks wait in the outbox for an endpoint that hangs or fails,
// relative to a service without webhooks that is measured at the same time.

const ORDERS = 10_000
const EVENTS = Number(process.env.BENCH_EVENTS ?? 10_000)
const ROUNDS = Number(process.env.BENCH_REQUESTS ?? 2_000)
const WARM_UP_ROUNDS = 100
const FIRST_PORT = 18_831
const TARGET = 1.5

/** The endpoint of each service; the first has none. */
const ENDPOINTS: Record<string, RequestListener | null> = {
  none: null,
  hanging: () => undefined,
  failing: (_request, response) => response.writeHead(500).end(),
}

interface MeasuredRequest {
  path: string
  body?: unknown
}

const REQUESTS: Record<string, MeasuredRequest> = {
  'order list': { path: ORDERS_PATH },
  'create an order': { path: ORDERS_PATH, body: newOrder() },
  estimate: {
    path: '/api/calculators/fuel/estimate',
    body: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  },
}

async function send(service: OrderService, { path, body }: MeasuredRequest): Promise<any> {
  const response = await fetch(service.url + path, {
    headers: {
      ...service.headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const result: unknown = await response.json()
  if (!response.ok) throw new Error(`${path}: status ${response.status}`)
  return result
}

/** Adds an endpoint, and events that it has not received. */
async function addUndelivered(service: OrderService, respond: RequestListener) {
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint = { url: `http://127.0.0.1:${port}/`, events: ['order.created'] }
  const { id } = await send(service, { path: '/api/admin/webhooks', body: endpoint })
  const database = openSqliteDatabase(getDatabasePath(service.dataDir))
  await database.write(async (tx) => {
    for (const order of typicalOrders(EVENTS)) {
      const event = { id: 0, at: order.createdAt, previousStatus: null, order }
      await enqueueMessage(tx, buildOrderMessage(id, event, 'order.created'))
    }
  })
  await database.close()
  return server
}

async function countUndelivered({ dataDir }: OrderService): Promise<number> {
  const database = openSqliteDatabase(getDatabasePath(dataDir))
  const [row] = await database.query<{ count: number }>(
    "SELECT count(*) AS count FROM outbox WHERE state = 'pending'",
  )
  await database.close()
  return row?.count ?? 0
}

/** Sends each request to the services in turn. */
async function compare(services: OrderService[]) {
  const rows = []
  for (const [scenario, request] of Object.entries(REQUESTS)) {
    const latencies: number[][] = services.map(() => [])
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const [i, service] of services.entries()) {
        const started = performance.now()
        await send(service, request)
        if (round >= 0) latencies[i]?.push(performance.now() - started)
      }
    }
    const [none = {}, ...others] = latencies.map((values, i) => ({
      endpoint: Object.keys(ENDPOINTS)[i],
      p50: quantile(values, 0.5),
      p99: quantile(values, 0.99),
    }))
    const { p50 = NaN, p99 = NaN } = none as { p50?: number; p99?: number }
    for (const other of others) {
      rows.push({
        scenario,
        endpoint: other.endpoint,
        'p50, ms': round2(other.p50),
        'p50 ratio': round2(other.p50 / p50),
        'p99, ms': round2(other.p99),
        'p99 ratio': round2(other.p99 / p99),
        target: TARGET,
      })
    }
  }
  return rows
}

const folder = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const services: OrderService[] = []
const servers = []
try {
  for (const [i, [name, respond]] of Object.entries(ENDPOINTS).entries()) {
    const dataDir = join(folder, name)
    await fillDatabase(dataDir, ORDERS)
    const environment = { HOST: '127.0.0.1', WEBHOOK_ALLOW_LOOPBACK: 'true' }
    const service = await startOrderService(
      { dataDir, orders: ORDERS },
      FIRST_PORT + i,
      environment,
    )
    services.push(service)
    if (respond !== null) servers.push(await addUndelivered(service, respond))
  }
  const rows = await compare(services)
  const undelivered = await Promise.all(services.map(countUndelivered))
  console.log(
    `${MACHINE}; ${ROUNDS} requests each; undelivered at the end: ${undelivered.join(', ')}`,
  )
  console.table(rows)
  writeReport('webhooks', { rounds: ROUNDS, events: EVENTS, undelivered, rows })
} finally {
  await stopServers(services.map(({ child }) => child))
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(folder, { recursive: true, force: true })
}
