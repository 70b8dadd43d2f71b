import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { launchBrowser } from '../support/browser.js'
import { measurePageWeight } from '../support/page-weight.js'
import { MACHINE, writeReport } from './report.js'
import { getResidentMB, startClearwake, startServer, stopServers } from './servers.js'
import { median, round2 } from './statistics.js'

// Cold start and idle memory relative to bare-plugins.ts, the latency of the first requests, and
// the weight of the guest pages.

const ROUNDS = Number(process.env.BENCH_STARTS ?? 7)
const START_TARGET = 2
const MEMORY_TARGET = 1.5
const IDLE_MS = 3_000
const PORT = 18_806
const RESULT_PAGE = '/calculator/fuel?fuelType=mgo&quantity=500&unit=l'
const GUEST_PAGES = ['/', RESULT_PAGE, '/calculator/distance']

const ESTIMATE = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ fuelType: 'mgo', quantity: 500, unit: 'l' }),
}
const FIRST_REQUESTS: [scenario: string, path: string, request: RequestInit][] = [
  ['estimate', '/api/calculators/fuel/estimate', ESTIMATE],
  ['calculator page with a result', RESULT_PAGE, {}],
  ['QR code test page', '/qr-test', {}],
]

interface Start {
  startMs: number
  idleMB: number
  /** Latencies of sending each of FIRST_REQUESTS for the first and the second time, ms */
  latencies: [first: number, second: number][]
}

async function measureLatency(path: string, request: RequestInit): Promise<number> {
  const started = performance.now()
  const response = await fetch(`http://127.0.0.1:${PORT}${path}`, request)
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${path}: status ${response.status}`)
  return performance.now() - started
}

async function measureFirstRequests(): Promise<Start['latencies']> {
  // Opens the connection that the measured requests use.
  await measureLatency('/healthz', {})
  const latencies: Start['latencies'] = []
  for (const [, path, request] of FIRST_REQUESTS) {
    latencies.push([await measureLatency(path, request), await measureLatency(path, request)])
  }
  return latencies
}

async function measureStart(
  startProcess: () => Promise<ChildProcess>,
  measureRequests: () => Promise<Start['latencies']>,
): Promise<Start> {
  const started = performance.now()
  const child = await startProcess()
  const startMs = performance.now() - started
  await sleep(IDLE_MS)
  const idleMB = getResidentMB(child)
  const latencies = await measureRequests()
  await stopServers([child])
  return { startMs, idleMB, latencies }
}

async function measureGuestPage(path: string) {
  const browser = await launchBrowser()
  try {
    const { bytes, paths } = await measurePageWeight(
      await browser.newPage(),
      `http://127.0.0.1:${PORT}${path}`,
    )
    return {
      page: path.split('?')[0],
      'transferred, kB': round2(bytes / 1000),
      requests: paths.length,
    }
  } finally {
    await browser.close()
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const startService = () => startClearwake(PORT, dataDir, '/healthz')
const startBare = () =>
  startServer(
    join(import.meta.dirname, 'bare-plugins.js'),
    { PORT: String(PORT), DATA_DIR: dataDir },
    '/healthz',
  )

try {
  const clearwake: Start[] = []
  const bare: Start[] = []
  const measurements = [
    async () => clearwake.push(await measureStart(startService, measureFirstRequests)),
    async () => bare.push(await measureStart(startBare, async () => [])),
  ]
  for (let round = 0; round <= ROUNDS; round++) {
    for (const measure of measurements) await measure()
    measurements.reverse()
  }
  // The first round creates the database and fills the file cache.
  clearwake.shift()
  bare.shift()
  const createRow = (measure: string, field: 'startMs' | 'idleMB', target: number) => {
    const service = median(clearwake.map((start) => start[field]))
    const baseline = median(bare.map((start) => start[field]))
    return {
      measure,
      clearwake: Math.round(service),
      bare: Math.round(baseline),
      ratio: round2(service / baseline),
      target,
    }
  }
  const rows = [
    createRow('cold start, ms', 'startMs', START_TARGET),
    createRow('idle memory, MB', 'idleMB', MEMORY_TARGET),
  ]
  console.log(`${MACHINE}; medians of ${ROUNDS} starts`)
  console.table(rows)
  const firstRequests = FIRST_REQUESTS.map(([scenario], i) => {
    const getMedian = (request: 0 | 1) =>
      round2(median(clearwake.map(({ latencies }) => latencies[i]?.[request] ?? NaN)))
    return { scenario, 'first latency, ms': getMedian(0), 'second latency, ms': getMedian(1) }
  })
  console.table(firstRequests)

  const child = await startService()
  const pages = []
  for (const path of GUEST_PAGES) pages.push(await measureGuestPage(path))
  await stopServers([child])
  console.table(pages)
  writeReport('start', { rounds: ROUNDS, rows, firstRequests, pages })
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
