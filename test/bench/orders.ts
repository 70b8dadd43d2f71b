import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { enterStagedOrders } from '../../src/orders/book/enter-staged-orders.js'
import { openDatabase } from '../../src/orders/book/open-database.js'
import { bookPath } from '../../src/orders/book/order-book.js'
import { stagedOrders } from '../../src/orders/book/staged-orders.js'
import type { Order } from '../../src/orders/order.js'
import { projectRoot } from '../../src/project-root.js'
import { ADMIN_ACCOUNTS, logIn } from '../support/administrator.js'
import { usualOrders } from '../support/orders.js'

// How long answers about many orders take as a ratio to those about few, asked in turns; and
// what exports of all of them cost: time, memory, and how long other requests wait meanwhile.

const FEW = 10_000
const MANY = Number(process.env.BENCH_ORDERS ?? 1_000_000)
const ROUNDS = Number(process.env.BENCH_REQUESTS ?? 200)

/** The last day that there are orders of. */
const TODAY = new Date().toISOString().slice(0, 10)
const daysAgo = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

const LIST = '/api/admin/orders'
const WORKS: Record<string, string | { range: string }> = {
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

/** Mulberry32: the same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const TYPES = ['fuel', 'fuel', 'distance', 'custom'] as const
const CURRENCIES = ['EUR', 'EUR', 'EUR', 'USD', 'GBP', 'NOK', 'JPY']
const STATUSES = [
  'pending',
  'paid',
  'processing',
  ...Array<'fulfilled'>(5).fill('fulfilled'),
  'refunded',
  'cancelled',
] as const

const words = (text: string): string[] => text.split(' ')
const FIRST_NAMES = words(
  'Anna Ben Carla Dimitri Elena Farid Grace Hanna Ivan Julia Kofi Lucia Marek Nadia Olaf Priya Quentin Rosa Sven Tomas',
)
const LAST_NAMES = words(
  'Almeida Berg Costa Dubois Evans Fischer Garcia Hansen Ito Jensen Kowalski Lopez Müller Nakamura Okafor Petrov Quinn Rossi Silva Tanaka Ueda Vargas Weber Yilmaz',
)
const MAIL_HOSTS = words('example.com example.com example.com example.org example.net mail.example')

/** Orders over two years, with nothing that goes along with anything else. */
function* plausibleOrders(count: number): Generator<Order> {
  const next = random(1)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T
  for (const order of usualOrders(count)) {
    const placedAt = new Date(Date.now() - next() * 730 * 86_400_000).toISOString()
    const calculatorType = pick(TYPES)
    const [first, last] = [pick(FIRST_NAMES), pick(LAST_NAMES)]
    const mailbox = `${first}.${last}${Number(order.id) % 9_973}`.toLowerCase()
    yield {
      ...order,
      customerName: `${first} ${last}`,
      customerEmail: `${mailbox}@${pick(MAIL_HOSTS)}`,
      placedAt,
      calculatorType,
      calculatorData: calculatorType === 'fuel' ? order.calculatorData : null,
      status: pick(STATUSES),
      currency: pick(CURRENCIES),
    }
  }
}

function fill(dataDir: string, count: number): void {
  const db = openDatabase(bookPath(dataDir))
  const staged = stagedOrders(db)
  let line = 0
  for (const order of plausibleOrders(count)) staged.add(++line, order, 'bench')
  enterStagedOrders(db, staged, { mostClashes: 1 })
  db.close()
}

interface Service {
  url: string
  token: string
  child: ChildProcess
}

async function start(dataDir: string, port: number): Promise<Service> {
  const child = fork(join(projectRoot, 'dist/server.js'), {
    env: {
      ...process.env,
      ADMIN_ACCOUNTS,
      DATA_DIR: dataDir,
      PORT: String(port),
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const url = `http://127.0.0.1:${port}`
  for (let i = 0; i < 100; i++) {
    const answer = await fetch(`${url}/healthz`).catch(() => null)
    if (answer?.ok) return { url, child, token: await logIn(url) }
    await sleep(100)
  }
  throw new Error('the service does not answer')
}

function ask({ url, token }: Service, work: string | { range: string }): Promise<Response> {
  // Uncompressed: taking a file apart here would hold up the requests that are timed.
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' }
  if (typeof work === 'string') return fetch(url + work, { headers })
  return fetch(`${url}/api/admin/stats`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(work),
  })
}

/** Milliseconds until the answer has been read. */
async function timed(service: Service, work: string | { range: string }): Promise<number> {
  const started = performance.now()
  const answer = await ask(service, work)
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${JSON.stringify(work)} was answered with ${answer.status}`)
  return performance.now() - started
}

const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN
const hundredths = (value: number): number => Math.round(value * 100) / 100

async function compare(few: Service, many: Service) {
  const rows = []
  for (const [name, work] of Object.entries(WORKS)) {
    const times = { few: [] as number[], many: [] as number[] }
    for (let round = -20; round < ROUNDS; round++) {
      const [atFew, atMany] = [await timed(few, work), await timed(many, work)]
      // The first rounds warm both up.
      if (round < 0) continue
      times.few.push(atFew)
      times.many.push(atMany)
    }
    const ratio = (share: number) =>
      hundredths(quantile(times.many, share) / quantile(times.few, share))
    rows.push({
      work: name,
      'few, ms': hundredths(quantile(times.few, 0.5)),
      'many, ms': hundredths(quantile(times.many, 0.5)),
      ratio: ratio(0.5),
      'p99, few, ms': hundredths(quantile(times.few, 0.99)),
      'p99, many, ms': hundredths(quantile(times.many, 0.99)),
      'p99 ratio': ratio(0.99),
    })
  }
  return rows
}

/** Memory of a service, MB, as it tells by its metrics. */
async function memory({ url }: Service): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1e6
}

async function exportAll(service: Service, format: string) {
  const before = await memory(service)
  let most = before
  const done = new AbortController()
  const others: number[] = []
  const meanwhile = (async () => {
    while (!done.signal.aborted) {
      others.push(await timed(service, LIST))
      await sleep(10)
    }
  })()
  const watching = setInterval(
    () => void memory(service).then((now) => (most = Math.max(most, now))),
    500,
  )
  const started = performance.now()
  const answer = await ask(service, `${LIST}/export?format=${format}`)
  let bytes = 0
  for await (const chunk of answer.body ?? []) bytes += (chunk as Uint8Array).length
  const seconds = (performance.now() - started) / 1000
  done.abort()
  clearInterval(watching)
  await meanwhile
  return {
    format,
    orders: MANY,
    seconds: hundredths(seconds),
    MB: hundredths(bytes / 1e6),
    'memory growth, MB': Math.round(most - before),
    'other requests, p50 ms': hundredths(quantile(others, 0.5)),
    'other requests, p99 ms': hundredths(quantile(others, 0.99)),
  }
}

const folder = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const services: Service[] = []
try {
  console.log(`Entering ${FEW} and ${MANY} orders …`)
  fill(join(folder, 'few'), FEW)
  const started = performance.now()
  fill(join(folder, 'many'), MANY)
  const entering = hundredths((performance.now() - started) / 1000)
  const few = await start(join(folder, 'few'), 40_811)
  const many = await start(join(folder, 'many'), 40_812)
  services.push(few, many)
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`
  console.log(`${machine}; ${MANY} orders entered in ${entering} s; medians of ${ROUNDS} requests`)
  const rows = await compare(few, many)
  console.table(rows)
  const exports = [await exportAll(many, 'csv'), await exportAll(many, 'xlsx')]
  console.table(exports)
  const file = join(projectRoot, '.test/bench-orders.json')
  writeFileSync(file, JSON.stringify({ machine, few: FEW, many: MANY, rows, exports }, null, 2))
  console.log(`Written to ${file}`)
} finally {
  for (const { child } of services) child.kill()
  rmSync(folder, { recursive: true, force: true })
}
