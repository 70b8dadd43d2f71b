import { fork, type ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_TITLES } from '../../src/order-store/nocodb/columns.js'
import { encodeNewOrder, toRecordedOrder } from '../../src/order-store/nocodb/order-record.js'
import { projectRoot } from '../../src/config/project-root.js'
import { distPath } from '../support/dist-path.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { temporaryFolder } from '../support/app.js'
import { freePort } from '../support/free-port.js'
import { startNocoDb, type TestBase, type TestNocoDb } from '../support/nocodb.js'
import { typicalOrders } from '../support/orders.js'
import { waitFor } from '../support/wait-for.js'

// Response times of Clearwake with orders in NocoDB, as a ratio to the same requests sent to NocoDB
// directly, and the cost of the first load.

const ORDERS = Number(process.env.BENCH_ORDERS ?? 100_000)
const ROUNDS = Number(process.env.BENCH_REQUESTS ?? 20)
const AT_ONCE = 100

const stops: (() => unknown)[] = []
const scope = { teardown: (stop: () => unknown) => stops.unshift(stop) }

const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN
const tenths = (value: number): number => Math.round(value * 10) / 10

/** Fills the table as an import in NocoDB would. */
async function fill({ api }: TestNocoDb, { tableId }: TestBase): Promise<void> {
  let rows: object[] = []
  const flush = async (): Promise<void> => {
    const { status } = await api('POST', `/api/v2/tables/${tableId}/records`, rows)
    if (status !== 200) throw new Error(`NocoDB answers ${status}`)
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
    if (rows.length === AT_ONCE) await flush()
  }
  if (rows.length > 0) await flush()
}

function startClearwake(environment: Record<string, string>, port: number): ChildProcess {
  const child = fork(distPath('server.js'), {
    env: {
      PATH: process.env.PATH,
      ...environment,
      ADMIN_ACCOUNTS,
      DATA_DIR: join(temporaryFolder(scope), 'data'),
      PORT: String(port),
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  scope.teardown(() => child.kill())
  return child
}

const isoDate = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10)

/** The month with which the orders end. */
const [FROM, TO] = ['2026-10-26', '2026-11-24']

try {
  const nocoDb = await startNocoDb(scope)
  const base = await nocoDb.createBase()
  console.log(`Entering ${ORDERS} orders into NocoDB …`)
  await fill(nocoDb, base)

  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const environment = { ...base.environment }
  // As the service is by default.
  delete (environment as Partial<typeof environment>).NOCODB_REQUESTS_PER_SECOND
  delete (environment as Partial<typeof environment>).NOCODB_SYNC_INTERVAL
  startClearwake(environment, port)
  const begun = performance.now()
  const waits: number[] = []
  await waitFor(async () => {
    const request = performance.now()
    const alive = await fetch(`${url}/healthz`).catch(() => null)
    if (alive?.ok !== true) return false
    waits.push(performance.now() - request)
    return (await fetch(`${url}/readyz`)).status === 200
  }, 1_800_000)
  const loadSeconds = (performance.now() - begun) / 1000

  const ours = { authorization: `Bearer ${await signIn(url)}`, 'accept-encoding': 'identity' }
  const theirs = { 'xc-token': nocoDb.token }
  const list = (query: string) => () => fetch(`${url}/api/admin/orders?${query}`, { headers: ours })
  const records = `${nocoDb.url}/api/v2/tables/${base.tableId}/records`
  const direct = (query: Record<string, string>) => () =>
    fetch(`${records}?${new URLSearchParams({ limit: '25', ...query }).toString()}`, {
      headers: theirs,
    })
  const days = `(PlacedAt,gte,exactDate,${FROM})~and(PlacedAt,lt,exactDate,${isoDate(Date.parse(TO) + 86_400_000)})`
  const groupBy = `${nocoDb.url}/api/v1/db/data/noco/${base.baseId}/${base.tableId}/groupby`

  const workloads: Record<
    string,
    { clearwake: () => Promise<Response>; noco: () => Promise<Response> }
  > = {
    'list, first page': {
      clearwake: list('pageSize=25'),
      noco: direct({ sort: '-PlacedAt,-Id' }),
    },
    'list, status and currency, sorted': {
      clearwake: list('status=paid&currency=EUR&sort=-amountMinor'),
      noco: direct({ where: '(Status,eq,paid)~and(Currency,eq,EUR)', sort: '-AmountMinor,-Id' }),
    },
    'list, one month': {
      clearwake: list(`from=${FROM}&to=${TO}`),
      noco: direct({ where: days, sort: '-PlacedAt,-Id' }),
    },
    'search for an order number': {
      clearwake: list('q=CW-000777'),
      noco: direct({ where: '(OrderNumber,like,%CW-000777%)' }),
    },
    'search for an e-mail address': {
      clearwake: list('q=customer4321@'),
      noco: direct({ where: '(CustomerEmail,like,%customer4321@%)', sort: '-PlacedAt,-Id' }),
    },
    'statistics of all time (of NocoDB, only the counts by status)': {
      clearwake: () =>
        fetch(`${url}/api/admin/stats`, {
          method: 'POST',
          headers: { ...ours, 'content-type': 'application/json' },
          body: '{"range":"all"}',
        }),
      noco: () => fetch(`${groupBy}?column_name=Status&limit=25`, { headers: theirs }),
    },
  }

  async function timed(sendRequest: () => Promise<Response>): Promise<number> {
    const started = performance.now()
    const response = await sendRequest()
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`answered with ${response.status}`)
    return performance.now() - started
  }

  const results = []
  for (const [work, { clearwake, noco }] of Object.entries(workloads)) {
    const times = { clearwake: [] as number[], noco: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      times.clearwake.push(await timed(clearwake))
      times.noco.push(await timed(noco))
      await sleep(10)
    }
    const [a, b] = [quantile(times.clearwake, 0.5), quantile(times.noco, 0.5)]
    results.push({ work, clearwakeMs: tenths(a), nocoDbMs: tenths(b), ratio: tenths(b / a) })
  }
  const report = {
    orders: ORDERS,
    cpu: cpus()[0]?.model,
    node: process.version,
    loadSeconds: tenths(loadSeconds),
    whileLoading: { requests: waits.length, p99Ms: tenths(quantile(waits, 0.99)) },
    results,
  }
  console.table(results)
  console.log({ ...report, results: undefined })
  writeFileSync(join(projectRoot, '.test', 'bench-nocodb.json'), JSON.stringify(report, null, 2))
} finally {
  for (const stop of stops) await stop()
}
