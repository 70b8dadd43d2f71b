import { fork, type ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, type } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { projectRoot } from '../../src/config/project-root.js'
import { distPath } from '../support/dist-path.js'
import { ADMIN_ACCOUNTS } from '../support/sign-in.js'

// Many short rounds, as a machine that others share changes its speed from one second to the next.
const STARTS = Number(process.env.BENCH_STARTS ?? 5)
const ROUNDS_OF_START = Number(process.env.BENCH_ROUNDS_OF_START ?? 4)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1)
export const CONNECTIONS = 10

const MEASURED = [
  '@fastify/http-proxy',
  'autocannon',
  'better-sqlite3',
  'eta',
  'exceljs',
  'fast-csv',
  'fastify',
  'qrcode',
]
const getVersion = (library: string): string => {
  const manifest = readFileSync(join(projectRoot, 'node_modules', library, 'package.json'), 'utf8')
  return `${library} ${(JSON.parse(manifest) as { version: string }).version}`
}

/** Machine and versions, for reports. */
export const MACHINE = [
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
  `${type()} ${release()}`,
  `Node ${process.version}`,
  ...MEASURED.map(getVersion),
].join(', ')

/** Whether a process has ended, of itself or by a signal. */
const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null

/** Starts a server as a process, and waits until a path responds. PORT is in the environment. */
export async function start(
  script: string,
  environment: NodeJS.ProcessEnv,
  path: string,
): Promise<ChildProcess> {
  const response = () => fetch(`http://127.0.0.1:${environment.PORT}${path}`).catch(() => null)
  if ((await response()) !== null) throw new Error(`Another process uses port ${environment.PORT}`)
  const child = fork(script, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline && !hasEnded(child)) {
    if ((await response())?.ok) return child
    await sleep(2)
  }
  await stop([child])
  throw new Error(`${script} does not answer`)
}

/** Clearwake as it is built, with an administrator, and without limits that the measuring would meet. */
export const startClearwake = (
  port: number,
  dataDir: string,
  path: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<ChildProcess> =>
  start(
    distPath('server.js'),
    {
      ADMIN_ACCOUNTS,
      PORT: String(port),
      DATA_DIR: dataDir,
      RATE_LIMIT_PER_MINUTE: '1000000',
      QR_RATE_LIMIT_PER_MINUTE: '1000000',
      SHED_AFTER_MS: '60000',
      ...environment,
    },
    path,
  )

/** Ends servers, and waits until they have. */
export async function stop(children: ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (hasEnded(child)) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    }),
  )
}

export interface Call {
  path: string
  /** Sent as JSON by POST */
  body?: unknown
  headers?: Record<string, string>
  /** Whether each client uses its own query */
  isEachItsOwn?: boolean
  /** Number of requests, if a round is too short for one per client */
  answers?: number
}

/** Requests per second; throws if any fails. */
export async function throughput(
  port: number,
  { path, body, headers = {}, isEachItsOwn = false, answers }: Call,
  connections = CONNECTIONS,
): Promise<number> {
  const url = `http://127.0.0.1:${port}${path}`
  const request =
    body === undefined
      ? { headers }
      : {
          method: 'POST' as const,
          body: JSON.stringify(body),
          headers: { ...headers, 'content-type': 'application/json' },
        }
  let clients = 0
  const result = await autocannon({
    url,
    connections,
    // autocannon checks for completion only when it samples, by default once a second.
    ...(answers === undefined ? { duration: SECONDS } : { amount: answers, sampleInt: 50 }),
    ...request,
    setupClient(client) {
      if (isEachItsOwn) client.setRequests([{ path: `${path}?client=${++clients}` }])
    },
  })
  // Waits for requests in progress, which would slow down the next measurement.
  await fetch(url, request).then((response) => response.arrayBuffer())
  if (result.requests.total === 0 || result.non2xx + result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} refused, ${result.errors} failed`)
  return result.requests.total / result.duration
}

/** The value that a share of the values does not exceed. */
export const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN
export const median = (values: number[]): number => quantile(values, 0.5)
export const hundredths = (value: number): number => Math.round(value * 100) / 100

const shuffled = <T>(items: T[]): T[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)

/** Requests per second of each server. */
type Round = Record<'clearwake' | 'bare', number> & Record<string, number>
/** Measures each server. */
type Measures = Record<keyof Round, () => Promise<number>>

/** Measures all servers in random order. */
async function round(measures: Measures): Promise<Round> {
  // Keeps the given order for the table.
  const measured: Record<string, number> = {}
  for (const name of Object.keys(measures)) measured[name] = NaN
  for (const [name, measure] of shuffled(Object.entries(measures))) measured[name] = await measure()
  return measured as Round
}

/**
 * Measures the throughput of several workloads; prints and saves a table.
 *
 * Servers are restarted several times, because JIT compilation and memory layout make processes of
 * the same code differ by up to a tenth. Within a round they run in random order, so that a slow
 * phase of the machine does not affect one of them alone. The first round after a start warms up and
 * does not count.
 *
 * @param name of the file that keeps the table
 * @param servers start the contestants, one after the other
 * @param begin is done after each start, and tells how the contestants are measured at a work
 */
export async function compare<Work extends { work: string; clients: number; aim: number }>(
  name: string,
  workloads: Work[],
  servers: (() => Promise<ChildProcess>)[],
  begin: () => Promise<(workload: Work) => Measures>,
): Promise<void> {
  const measured = workloads.map((workload) => ({ workload, rounds: [] as Round[] }))
  for (let started = 0; started < STARTS; started++) {
    const children: ChildProcess[] = []
    try {
      for (const server of servers) children.push(await server())
      const measures = await begin()
      for (const { workload } of measured) await round(measures(workload))
      for (const { workload, rounds } of measured) {
        for (let turn = 0; turn < ROUNDS_OF_START; turn++)
          rounds.push(await round(measures(workload)))
      }
    } finally {
      await stop(children)
    }
  }
  const rows = measured.map(({ workload: { work, clients, aim }, rounds }) => ({
    work,
    clients,
    ...summary(rounds),
    aim,
  }))
  const rounds = STARTS * ROUNDS_OF_START
  console.log(
    `${MACHINE}; answers a second, medians of ${rounds} rounds of ${SECONDS} s, ${ROUNDS_OF_START} after each of ${STARTS} starts`,
  )
  console.table(rows)
  report(name, { starts: STARTS, rounds, seconds: SECONDS, rows })
}

/** The median of each measure, and of the ratio of Clearwake to the bare one with its quartiles. */
function summary(rounds: Round[]) {
  const ratios = rounds.map(({ clearwake, bare }) => clearwake / bare)
  const names = Object.keys(rounds[0] ?? {})
  const medians = names.map((name) => {
    const values = rounds.map((one) => one[name] ?? NaN)
    return [name, Math.round(median(values))] as const
  })
  return {
    ...Object.fromEntries(medians),
    ratio: hundredths(median(ratios)),
    quartiles: [0.25, 0.75].map((share) => hundredths(quantile(ratios, share))).join(' to '),
  }
}

/** Memory of a process that a machine holds for it, MB. */
export function residentMB(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
}

/** Saves results next to the compiled tests, for plots and reports. */
export function report(name: string, measured: object): void {
  const file = join(projectRoot, `.test/bench/${name}.json`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ machine: MACHINE, ...measured }, null, 2)}\n`)
  console.log(`Written to ${file}`)
}
