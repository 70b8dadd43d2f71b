import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { launchBrowser } from '../support/browser.js'
import { measurePageWeight } from '../support/page-weight.js'
import {
  hundredths,
  MACHINE,
  median,
  report,
  residentMB,
  start,
  startClearwake,
  stop,
} from './measure.js'

// Time from the start of the process to the first response, and idle memory, as ratios to a bare
// service with the same plugins and libraries; first response times of a few routes; and the weight
// of guest pages.

const ROUNDS = 7
const AIM = 2
const PORT = 18_806
const GUEST_PAGES = [
  '/',
  '/calculator/fuel?fuelType=mgo&quantity=500&unit=l',
  '/calculator/distance',
] as const

const ESTIMATE = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ fuelType: 'mgo', quantity: 500, unit: 'l' }),
}
const FIRST_RESPONSES: [work: string, path: string, request: RequestInit][] = [
  ['estimate', '/api/calculators/fuel/estimate', ESTIMATE],
  ['calculator page with a result', GUEST_PAGES[1], {}],
  ['test page of QR codes', '/qr-test', {}],
]

/** Milliseconds of the first and second response of a few routes. */
async function measureFirstResponses(): Promise<Start['firsts']> {
  const times: Start['firsts'] = []
  // Opens the connection that the timed requests reuse.
  await (await fetch(`http://127.0.0.1:${PORT}/healthz`)).arrayBuffer()
  for (const [, path, request] of FIRST_RESPONSES) {
    const timed = async () => {
      const startedAt = performance.now()
      const response = await fetch(`http://127.0.0.1:${PORT}${path}`, request)
      await response.arrayBuffer()
      if (!response.ok) throw new Error(`${path} returned ${response.status}`)
      return performance.now() - startedAt
    }
    times.push([await timed(), await timed()])
  }
  return times
}

interface Start {
  milliseconds: number
  megabytes: number
  firsts: [first: number, second: number][]
}

async function begin(
  started: () => Promise<ChildProcess>,
  responses: () => Promise<Start['firsts']>,
): Promise<Start> {
  const begun = performance.now()
  const child = await started()
  const milliseconds = performance.now() - begun
  await sleep(3_000)
  const megabytes = residentMB(child)
  const firsts = await responses()
  await stop([child])
  return { milliseconds, megabytes, firsts }
}

async function getWeight(path: string) {
  const browser = await launchBrowser()
  try {
    const { bytes, paths } = await measurePageWeight(
      await browser.newPage(),
      `http://127.0.0.1:${PORT}${path}`,
    )
    return {
      page: path.split('?')[0],
      'kB over the wire': hundredths(bytes / 1000),
      requests: paths.length,
    }
  } finally {
    await browser.close()
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const startOurs = () => startClearwake(PORT, dataDir, '/healthz')
const startBare = () =>
  start(
    join(import.meta.dirname, 'bare-plugins.js'),
    { PORT: String(PORT), DATA_DIR: dataDir },
    '/healthz',
  )

try {
  const ours: Start[] = []
  const bare: Start[] = []
  const turns = [
    async () => ours.push(await begin(startOurs, measureFirstResponses)),
    async () => bare.push(await begin(startBare, async () => [])),
  ]
  for (let round = 0; round <= ROUNDS; round++) {
    for (const turn of turns) await turn()
    turns.reverse()
  }
  // The first round creates the database and fills the page cache.
  ours.shift()
  bare.shift()
  const row = (workload: string, of: 'milliseconds' | 'megabytes') => {
    const [clearwake, baseline] = [ours, bare].map((all) => median(all.map((one) => one[of])))
    return {
      workload,
      clearwake: Math.round(clearwake ?? NaN),
      bare: Math.round(baseline ?? NaN),
      ratio: hundredths((clearwake ?? NaN) / (baseline ?? NaN)),
      aim: AIM,
    }
  }
  const rows = [
    row('cold start to the first answer, ms', 'milliseconds'),
    row('idle memory, MB', 'megabytes'),
  ]
  console.log(`${MACHINE}; medians of ${ROUNDS} starts`)
  console.table(rows)
  const firsts = FIRST_RESPONSES.map(([work], i) => {
    const at = (turn: 0 | 1) => hundredths(median(ours.map((one) => one.firsts[i]?.[turn] ?? NaN)))
    return { work, 'first answer, ms': at(0), 'second, ms': at(1) }
  })
  console.table(firsts)

  const child = await startOurs()
  const pages = []
  for (const path of GUEST_PAGES) pages.push(await getWeight(path))
  await stop([child])
  console.table(pages)
  report('start', { rounds: ROUNDS, rows, firsts, pages })
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
