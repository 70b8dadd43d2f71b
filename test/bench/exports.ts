import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signIn } from '../support/sign-in.js'
import { measureLatency, ORDERS_PATH, type OrderService } from './order-service.js'
import { getResidentMB, startServer, stopServers } from './servers.js'
import { median, quantile, round2 } from './statistics.js'

const BARE_PORT = '18821'
/** Exports of small stores are repeated, up to this number of orders in total. */
const MAX_EXPORTED_ORDERS = 3_000_000
const MAX_REPETITIONS = 10
const FORMATS = [
  ['CSV', 'csv'],
  ['Excel', 'xlsx'],
] as const
type Format = (typeof FORMATS)[number][1]
/** Interval of the list requests during an export */
const LIST_INTERVAL_MS = 10
/** Duration of the measurement before each export */
const IDLE_MS = 3_000

interface Download {
  seconds: number
  MB: number
  /** Peak memory of the server during the download */
  peakMB: number
}

/** Prepares a download in its own process; the function returned runs it. */
async function prepareDownload(
  server: ChildProcess,
  url: string,
  headers: Record<string, string> = {},
): Promise<() => Promise<Download>> {
  const client = fork(join(import.meta.dirname, 'timed-download.js'), [
    url,
    JSON.stringify(headers),
  ])
  const readMessage = () =>
    Promise.race([once(client, 'message'), once(client, 'exit').then(() => [null])])
  const [ready] = (await readMessage()) as [unknown]
  if (ready === null) throw new Error('The download process did not start')

  return async () => {
    let peakMB = getResidentMB(server)
    const sampling = setInterval(() => (peakMB = Math.max(peakMB, getResidentMB(server))), 50)
    try {
      client.send('start')
      const [result] = (await readMessage()) as [{ bytes: number; seconds: number } | null]
      if (result === null) throw new Error(`The download of ${url} failed`)
      return { seconds: result.seconds, MB: result.bytes / 1e6, peakMB }
    } finally {
      clearInterval(sampling)
    }
  }
}

/** Signs in, because exports need a sign-in of the last ten minutes. */
const prepareExport = async ({ child, url, headers }: OrderService, format: Format) =>
  prepareDownload(child, `${url}${ORDERS_PATH}/export?format=${format}`, {
    ...headers,
    authorization: `Bearer ${await signIn(url)}`,
  })

const getRepetitions = ({ orders }: OrderService): number =>
  Math.min(MAX_REPETITIONS, Math.ceil(MAX_EXPORTED_ORDERS / orders))

const getGrowth = (downloads: Download[], idleMB: number): number =>
  Math.round(Math.max(...downloads.map(({ peakMB }) => peakMB)) - idleMB)

/** Compares exports of all orders with those of bare-exports.ts, alternating between the two. */
export async function compareExports(service: OrderService, idleMB: number) {
  const { orders, dataDir } = service
  const rows = []
  for (const [scenario, format] of FORMATS) {
    const bareServer = await startServer(
      join(import.meta.dirname, 'bare-exports.js'),
      { PORT: BARE_PORT, DATA_DIR: dataDir },
      '/',
    )
    const bareIdleMB = getResidentMB(bareServer)
    const clearwake: Download[] = []
    const bare: Download[] = []
    try {
      for (let i = 0; i < getRepetitions(service); i++) {
        const runExport = await prepareExport(service, format)
        const runBareExport = await prepareDownload(
          bareServer,
          `http://127.0.0.1:${BARE_PORT}/${format}`,
        )
        clearwake.push(await runExport())
        bare.push(await runBareExport())
      }
    } finally {
      await stopServers([bareServer])
    }
    const getSeconds = (downloads: Download[]) => median(downloads.map(({ seconds }) => seconds))
    const [seconds, bareSeconds] = [getSeconds(clearwake), getSeconds(bare)]
    rows.push({
      scenario,
      orders,
      repetitions: clearwake.length,
      'clearwake, s': round2(seconds),
      'bare, s': round2(bareSeconds),
      ratio: round2(seconds / bareSeconds),
      MB: round2(clearwake[0]?.MB ?? NaN),
      'memory growth, MB': getGrowth(clearwake, idleMB),
      'bare memory growth, MB': getGrowth(bare, bareIdleMB),
    })
  }
  return rows
}

/**
 * Latencies of list requests sent at a fixed rate until the signal is aborted, whether or not the
 * previous responses have arrived, so that a long delay counts for every request it affects.
 * If this process falls behind, it does not send requests faster to catch up.
 */
async function measureListLatencies(service: OrderService, signal: AbortSignal): Promise<number[]> {
  const latencies: Promise<number>[] = []
  let next = performance.now()
  while (!signal.aborted) {
    const latency = measureLatency(service, ORDERS_PATH)
    latency.catch(() => undefined) // Promise.all throws the error.
    latencies.push(latency)
    next = Math.max(next + LIST_INTERVAL_MS, performance.now())
    await sleep(next - performance.now())
  }
  return Promise.all(latencies)
}

/** Compares the latency of list requests during one or two exports with the latency just before. */
export async function measureLatencyDuringExports(service: OrderService, idleMB: number) {
  const rows = []
  for (const [scenario, ...formats] of [
    ...FORMATS,
    ['CSV and Excel concurrently', 'csv', 'xlsx'] as const,
  ]) {
    const downloads: Download[] = []
    const idle: number[] = []
    const during: number[] = []
    for (let i = 0; i < getRepetitions(service); i++) {
      idle.push(...(await measureListLatencies(service, AbortSignal.timeout(IDLE_MS))))
      const exports = await Promise.all(formats.map((format) => prepareExport(service, format)))
      // Stops when the first export ends.
      const controller = new AbortController()
      const [latencies, ...finished] = await Promise.all([
        measureListLatencies(service, controller.signal),
        ...exports.map((runExport) => runExport().finally(() => controller.abort())),
      ])
      during.push(...latencies)
      downloads.push(...finished)
    }
    const [idleP99, p99] = [quantile(idle, 0.99), quantile(during, 0.99)]
    rows.push({
      scenario,
      orders: service.orders,
      requests: during.length,
      'p99, ms': round2(p99),
      'max, ms': round2(Math.max(...during)),
      'idle p99, ms': round2(idleP99),
      'idle max, ms': round2(Math.max(...idle)),
      ratio: round2(p99 / idleP99),
      'memory growth, MB': getGrowth(downloads, idleMB),
    })
  }
  return rows
}
