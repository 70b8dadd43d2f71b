import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openReadOnly } from '../../src/database/open-database.js'
import {
  getOrderStorePath,
  openSqliteOrderStore,
} from '../../src/order-store/sqlite/sqlite-order-store.js'
import { calculateDashboardStats } from '../../src/orders/dashboard-stats.js'
import { signIn } from '../support/sign-in.js'
import { fillDatabase } from './order-data.js'
import {
  hundredths,
  MACHINE,
  median,
  quantile,
  report,
  residentMB,
  start,
  startClearwake,
  stop,
} from './measure.js'

// Response times with many orders as a ratio to few, in turns; the order store as a ratio to plain
// SQL; and exports of all orders as a ratio to bare ones: time, memory, and the latency of other
// requests meanwhile.

const MANY = Number(process.env.BENCH_ORDERS ?? 1_000_000)
const SIZES = [...new Set([Math.min(10_000, MANY), Math.min(100_000, MANY), MANY])]
const ROUNDS = Number(process.env.BENCH_REQUESTS ?? 200)
const PORTS = 18_811
const BARE_EXPORTS = '18821'
/** Small exports are repeated up to this number of orders, for a reliable time. */
const EXPORTED = 3_000_000
const FORMATS = [
  ['CSV', 'csv'],
  ['Excel', 'xlsx'],
] as const
type Format = (typeof FORMATS)[number][1]
/** Interval of other requests, ms */
const REQUEST_INTERVAL_MS = 10
/** Duration of the idle measurement before each export, ms */
const IDLE_MS = 3_000

/** The day of the newest orders. */
const TODAY = new Date().toISOString().slice(0, 10)
const daysAgo = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

const LIST = '/api/admin/orders'
const WORKLOADS: Record<string, string | { range: string }> = {
  'list, first page': LIST,
  'list by customer': `${LIST}?sort=customerName`,
  'list, status and currency': `${LIST}?status=paid&currency=EUR&sort=-amountMinor`,
  'list, one month': `${LIST}?from=${daysAgo(30)}&to=${TODAY}`,
  'search, order number': `${LIST}?q=CW-000777`,
  'search, e-mail': `${LIST}?q=nakamura4321@`,
  'search, nothing found': `${LIST}?q=nobody+at+all`,
  'statistics, 7 days': { range: '7d' },
  'statistics, 30 days': { range: '30d' },
  'statistics, 90 days': { range: '90d' },
  'statistics, all time': { range: 'all' },
}

interface Book {
  orders: number
  dataDir: string
}

interface Service extends Book {
  url: string
  child: ChildProcess
  headers: Record<string, string>
}

async function startService(store: Book, port: number): Promise<Service> {
  const child = await startClearwake(port, store.dataDir, '/healthz')
  const url = `http://127.0.0.1:${port}`
  const authorization = `Bearer ${await signIn(url)}`
  // Uncompressed: taking a file apart here would hold up the requests that are timed.
  return { ...store, url, child, headers: { authorization, 'accept-encoding': 'identity' } }
}

function sendRequest(
  { url, headers }: Service,
  workload: string | { range: string },
): Promise<Response> {
  if (typeof workload === 'string') return fetch(url + workload, { headers })
  return fetch(`${url}/api/admin/stats`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(workload),
  })
}

/** Milliseconds until the response has been read. */
async function timed(service: Service, workload: string | { range: string }): Promise<number> {
  const started = performance.now()
  const response = await sendRequest(service, workload)
  await response.arrayBuffer()
  if (!response.ok)
    throw new Error(`${JSON.stringify(workload)} was answered with ${response.status}`)
  return performance.now() - started
}

/** The same questions of books of several sizes, in turns. */
async function bySize(services: Service[]) {
  const rows = []
  for (const [name, work] of Object.entries(WORKLOADS)) {
    const times: number[][] = services.map(() => [])
    for (let round = -20; round < ROUNDS; round++) {
      for (const [i, service] of services.entries()) {
        const milliseconds = await timed(service, work)
        // The first rounds warm all of them up.
        if (round >= 0) times[i]?.push(milliseconds)
      }
    }
    const at = (share: number) => times.map((each) => hundredths(quantile(each, share)))
    const ratio = (values: number[]) => hundredths((values.at(-1) ?? NaN) / (values[0] ?? NaN))
    const [p50, p99] = [at(0.5), at(0.99)]
    rows.push({ work: name, p50, p99, ratio: ratio(p50), 'p99 ratio': ratio(p99) })
  }
  return rows
}

/** The order store in this process, as a ratio to plain SQL. */
async function compareWithSql({ orders, dataDir }: Book) {
  const path = getOrderStorePath(dataDir)
  const store = openSqliteOrderStore({ path, timeZone: 'UTC' })
  const db = openReadOnly(path)
  const since = Date.now() - 30 * 86_400_000
  const page = db.prepare('SELECT * FROM orders ORDER BY placed_at DESC, id DESC LIMIT 25')
  const count = db.prepare('SELECT count(*) FROM orders')
  const sums = db.prepare(`
    SELECT placed_at / 86400000 AS day, status, currency, count(*), sum(co2e_kg), sum(amount_minor)
    FROM orders WHERE placed_at >= ? GROUP BY 1, 2, 3`)
  const pairs: Record<string, [() => unknown, () => unknown]> = {
    'list: a page and the count': [
      () => store.list({}, { sort: '-placedAt', offset: 0, limit: 25 }),
      () => [page.all(), count.get()],
    ],
    'statistics of 30 days': [
      () => calculateDashboardStats(store, '30d', Date.now()),
      () => sums.all(since),
    ],
  }
  const rows = []
  try {
    for (const [work, [ours, bare]] of Object.entries(pairs)) {
      const times = { ours: [] as number[], bare: [] as number[] }
      for (let round = -5; round < Math.min(ROUNDS, 50); round++) {
        for (const [name, run] of [
          ['ours', ours],
          ['bare', bare],
        ] as const) {
          const started = performance.now()
          await run()
          if (round >= 0) times[name].push(performance.now() - started)
        }
      }
      const [clearwake, sql] = [median(times.ours), median(times.bare)]
      rows.push({
        work,
        orders,
        'clearwake, ms': hundredths(clearwake),
        'bare SQL, ms': hundredths(sql),
        ratio: Number((clearwake / sql).toPrecision(2)),
        aim: 2,
      })
    }
  } finally {
    db.close()
    await store.close()
  }
  return rows
}

/**
 * Response times of lists until the signal aborts. Requests are sent at a fixed interval without
 * waiting for earlier responses (open loop), so that stalls are not underreported.
 */
async function requestContinuously(service: Service, enough: AbortSignal): Promise<number[]> {
  const responses: Promise<number>[] = []
  let next = performance.now()
  while (!enough.aborted) {
    const response = timed(service, LIST)
    response.catch(() => undefined) // thrown below, with the others
    responses.push(response)
    next = Math.max(next + REQUEST_INTERVAL_MS, performance.now())
    await sleep(next - performance.now())
  }
  return Promise.all(responses)
}

interface Download {
  seconds: number
  MB: number
  /** Peak memory of the process, MB */
  peak: number
}

/**
 * Prepares a download in a separate process; the returned function starts it, and samples the memory
 * of the process that creates the file.
 */
async function prepareDownload(
  child: ChildProcess,
  url: string,
  headers: Record<string, string> = {},
) {
  const client = fork(join(import.meta.dirname, 'timed-reader.js'), [url, JSON.stringify(headers)])
  const nextMessage = () =>
    Promise.race([once(client, 'message'), once(client, 'exit').then(() => [null])])
  const [ready] = (await nextMessage()) as [unknown]
  if (ready === null) throw new Error('the reader has not started')

  return async (): Promise<Download> => {
    let peak = residentMB(child)
    const watch = setInterval(() => (peak = Math.max(peak, residentMB(child))), 50)
    try {
      client.send('begin')
      const [read] = (await nextMessage()) as [{ bytes: number; seconds: number } | null]
      if (read === null) throw new Error(`${url} was not read to its end`)
      return { seconds: read.seconds, MB: read.bytes / 1e6, peak }
    } finally {
      clearInterval(watch)
    }
  }
}

/** Reads the database file into the page cache. */
async function fillPageCache(dataDir: string): Promise<void> {
  await once(createReadStream(getOrderStorePath(dataDir)).resume(), 'close')
}

/** How often an export is repeated. */
const getRepetitions = ({ orders }: Book): number => Math.min(10, Math.ceil(EXPORTED / orders))

const prepareExport = ({ child, url, headers }: Service, format: Format) =>
  prepareDownload(child, `${url}${LIST}/export?format=${format}`, headers)

const growth = (downloads: Download[], restingMB: number): number =>
  Math.round(Math.max(...downloads.map(({ peak }) => peak)) - restingMB)

/** Exports of all orders, by Clearwake and by the bare service in turns. */
async function measureExports(service: Service, restingMB: number) {
  const { orders, dataDir } = service
  const rows = []
  for (const [work, format] of FORMATS) {
    const child = await start(
      join(import.meta.dirname, 'bare-exports.js'),
      { PORT: BARE_EXPORTS, DATA_DIR: dataDir },
      '/',
    )
    const bareRestingMB = residentMB(child)
    const ours: Download[] = []
    const bare: Download[] = []
    try {
      for (let time = 0; time < getRepetitions(service); time++) {
        const [read, readBare] = [
          await prepareExport(service, format),
          await prepareDownload(child, `http://127.0.0.1:${BARE_EXPORTS}/${format}`),
        ]
        ours.push(await read())
        bare.push(await readBare())
      }
    } finally {
      await stop([child])
    }
    const seconds = (all: Download[]) => median(all.map((one) => one.seconds))
    rows.push({
      work,
      orders,
      times: ours.length,
      seconds: hundredths(seconds(ours)),
      'bare, s': hundredths(seconds(bare)),
      ratio: hundredths(seconds(ours) / seconds(bare)),
      MB: hundredths(ours[0]?.MB ?? NaN),
      'memory growth, MB': growth(ours, restingMB),
      'bare, growth, MB': growth(bare, bareRestingMB),
    })
  }
  return rows
}

/** Latency of other requests during one or two exports, and just before. */
async function measureConcurrentRequests(service: Service, restingMB: number) {
  const rows = []
  for (const [work, ...formats] of [
    ...FORMATS,
    ['CSV and Excel at once', 'csv', 'xlsx'] as const,
  ]) {
    const downloads: Download[] = []
    const idle: number[] = []
    const waits: number[] = []
    for (let time = 0; time < getRepetitions(service); time++) {
      idle.push(...(await requestContinuously(service, AbortSignal.timeout(IDLE_MS))))
      const readers = await Promise.all(formats.map((format) => prepareExport(service, format)))
      // Until the first of the files is whole.
      const enough = new AbortController()
      const [others, ...files] = await Promise.all([
        requestContinuously(service, enough.signal),
        ...readers.map((read) => read().finally(() => enough.abort())),
      ])
      downloads.push(...files)
      waits.push(...others)
    }
    const [before, during] = [quantile(idle, 0.99), quantile(waits, 0.99)]
    rows.push({
      work,
      orders: service.orders,
      requests: waits.length,
      'p99, ms': hundredths(during),
      'peak, ms': hundredths(Math.max(...waits)),
      'idle, p99, ms': hundredths(before),
      'idle, peak, ms': hundredths(Math.max(...idle)),
      ratio: hundredths(during / before),
      'memory growth, MB': growth(downloads, restingMB),
    })
  }
  return rows
}

const folder = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const stores = SIZES.map((orders) => ({ orders, dataDir: join(folder, String(orders)) }))
const services: Service[] = []
try {
  const started = performance.now()
  for (const { dataDir, orders } of stores) fillDatabase(dataDir, orders)
  const entering = hundredths((performance.now() - started) / 1000)
  console.log(`${MACHINE}; ${SIZES.join(', ')} orders entered in ${entering} s`)
  for (const [i, book] of stores.entries()) services.push(await startService(book, PORTS + i))
  const sizes = await bySize(services)
  console.table(sizes)
  const sql = []
  for (const book of stores) sql.push(...(await compareWithSql(book)))
  console.table(sql)
  const files = []
  const others = []
  for (const service of services) {
    await fillPageCache(service.dataDir)
    const restingMB = residentMB(service.child)
    files.push(...(await measureExports(service, restingMB)))
    others.push(...(await measureConcurrentRequests(service, restingMB)))
  }
  console.table(files)
  console.log('Other requests meanwhile:')
  console.table(others)
  report('orders', { sizes: SIZES, rounds: ROUNDS, entering, rows: sizes, sql, files, others })
} finally {
  await stop(services.map(({ child }) => child))
  rmSync(folder, { recursive: true, force: true })
}
