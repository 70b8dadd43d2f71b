import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_TITLES } from '../../src/nocodb/columns.js'
import { encodeNewOrder, toRecordedOrder } from '../../src/nocodb/order-record.js'
import { temporaryFolder } from '../support/app.js'
import { freePort } from '../support/free-port.js'
import { startNocoDb, type TestBase, type TestNocoDb } from '../support/nocodb.js'
import { typicalOrders } from '../support/orders.js'
import { signIn } from '../support/sign-in.js'
import { waitFor } from '../support/wait-for.js'
import { MACHINE, writeReport } from './report.js'
import { startClearwake, stopServers } from './servers.js'
import { quantile, round2 } from './statistics.js'

// Latency of Clearwake with its orders in NocoDB, compared with the same queries sent to NocoDB
// directly; and the duration of the initial load.

const ORDERS = Number(process.env.BENCH_ORDERS ?? 100_000)
const ROUNDS = Number(process.env.BENCH_REQUESTS ?? 20)
const ROWS_PER_REQUEST = 100
const MAX_LOAD_MS = 1_800_000

const teardowns: (() => unknown)[] = []
const scope = { teardown: (stop: () => unknown) => teardowns.unshift(stop) }

/** Fills the table as an import into NocoDB would. */
async function fillTable({ api }: TestNocoDb, { tableId }: TestBase): Promise<void> {
  let rows: object[] = []
  const flush = async (): Promise<void> => {
    const { status } = await api('POST', `/api/v2/tables/${tableId}/records`, rows)
    if (status !== 200) throw new Error(`NocoDB responded with status ${status}`)
    rows = []
  }
  for (const order of typicalOrders(ORDERS)) {
    const history = Array.from({ length: order.version - 1 }, (_, i) => ({
      at: order.placedAt,
      by: 'bench',
      version: i + 2,
      changes: [],
    }))
    const record = { order: toRecordedOrder(order), by: 'bench', request: null, history }
    rows.push({
      ...encodeNewOrder({ order, record, token: crypto.randomUUID() }, null, DEFAULT_TITLES),
      OrderNumber: order.orderNumber,
    })
    if (rows.length === ROWS_PER_REQUEST) await flush()
  }
  if (rows.length > 0) await flush()
}

/** The last month of the orders; the end is exclusive in NocoDB, inclusive in Clearwake. */
const MONTH = { from: '2026-10-26', to: '2026-11-24', end: '2026-11-25' }

try {
  const nocoDb = await startNocoDb(scope)
  const base = await nocoDb.createBase()
  console.log(`Importing ${ORDERS} orders into NocoDB …`)
  await fillTable(nocoDb, base)

  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const started = performance.now()
  const service = await startClearwake(port, join(temporaryFolder(scope), 'data'), '/healthz', {
    ...base.environment,
    // The defaults of the service, not those of the tests.
    NOCODB_REQUESTS_PER_SECOND: undefined,
    NOCODB_SYNC_INTERVAL: undefined,
    LOG_LEVEL: 'warn',
  })
  scope.teardown(() => stopServers([service]))
  const healthLatencies: number[] = []
  await waitFor(async () => {
    const requested = performance.now()
    await fetch(`${url}/healthz`)
    healthLatencies.push(performance.now() - requested)
    return (await fetch(`${url}/readyz`)).status === 200
  }, MAX_LOAD_MS)
  const loadSeconds = (performance.now() - started) / 1000

  const authorization = `Bearer ${await signIn(url)}`
  const headers = { authorization, 'accept-encoding': 'identity' }
  const nocoDbHeaders = { 'xc-token': nocoDb.token }
  const listOrders = (query: string) => () => fetch(`${url}/api/admin/orders?${query}`, { headers })
  const records = `${nocoDb.url}/api/v2/tables/${base.tableId}/records`
  const listRecords = (query: Record<string, string>) => () =>
    fetch(`${records}?${new URLSearchParams({ limit: '25', ...query }).toString()}`, {
      headers: nocoDbHeaders,
    })
  const inMonth = `(PlacedAt,gte,exactDate,${MONTH.from})~and(PlacedAt,lt,exactDate,${MONTH.end})`
  const groupBy = `${nocoDb.url}/api/v1/db/data/noco/${base.baseId}/${base.tableId}/groupby`

  const scenarios: Record<
    string,
    { clearwake: () => Promise<Response>; nocoDb: () => Promise<Response> }
  > = {
    'list, first page': {
      clearwake: listOrders('pageSize=25'),
      nocoDb: listRecords({ sort: '-PlacedAt,-Id' }),
    },
    'list, status and currency, sorted': {
      clearwake: listOrders('status=paid&currency=EUR&sort=-amountMinor'),
      nocoDb: listRecords({
        where: '(Status,eq,paid)~and(Currency,eq,EUR)',
        sort: '-AmountMinor,-Id',
      }),
    },
    'list, one month': {
      clearwake: listOrders(`from=${MONTH.from}&to=${MONTH.to}`),
      nocoDb: listRecords({ where: inMonth, sort: '-PlacedAt,-Id' }),
    },
    'search, order number': {
      clearwake: listOrders('q=CW-000777'),
      nocoDb: listRecords({ where: '(OrderNumber,like,%CW-000777%)' }),
    },
    'search, email': {
      clearwake: listOrders('q=customer4321@'),
      nocoDb: listRecords({
        where: '(CustomerEmail,like,%customer4321@%)',
        sort: '-PlacedAt,-Id',
      }),
    },
    'statistics, all time (NocoDB: only counts by status)': {
      clearwake: () =>
        fetch(`${url}/api/admin/stats`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: '{"range":"all"}',
        }),
      nocoDb: () => fetch(`${groupBy}?column_name=Status&limit=25`, { headers: nocoDbHeaders }),
    },
  }

  async function measureLatency(sendRequest: () => Promise<Response>): Promise<number> {
    const requested = performance.now()
    const response = await sendRequest()
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${response.url}: status ${response.status}`)
    return performance.now() - requested
  }

  const rows = []
  for (const [scenario, requests] of Object.entries(scenarios)) {
    const latencies = { clearwake: [] as number[], nocoDb: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      latencies.clearwake.push(await measureLatency(requests.clearwake))
      latencies.nocoDb.push(await measureLatency(requests.nocoDb))
      await sleep(10)
    }
    const [clearwake, direct] = [
      quantile(latencies.clearwake, 0.5),
      quantile(latencies.nocoDb, 0.5),
    ]
    rows.push({
      scenario,
      'clearwake p50, ms': round2(clearwake),
      'NocoDB p50, ms': round2(direct),
      ratio: round2(clearwake / direct),
    })
  }
  const load = {
    seconds: round2(loadSeconds),
    healthChecks: healthLatencies.length,
    'p99, ms': round2(quantile(healthLatencies, 0.99)),
  }
  console.log(`${MACHINE}; ${ORDERS} orders`)
  console.table(rows)
  console.log('Initial load, and latency of /healthz during it:')
  console.table([load])
  writeReport('nocodb', { orders: ORDERS, rounds: ROUNDS, load, rows })
} finally {
  for (const teardown of teardowns) await teardown()
}
