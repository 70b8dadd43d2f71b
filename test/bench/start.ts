import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { launchBrowser } from '../support/browser.js'
import { weigh } from '../support/page-weight.js'
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

// From the start of the process to the first answer, and the memory of a service that waits, as
// ratios to the same plugins and libraries put together bare; and what a guest loads.

const ROUNDS = 7
const AIM = 1.5
const PORT = 18_806
const GUEST_PAGES = [
  '/',
  '/calculator/fuel?fuelType=mgo&quantity=500&unit=l',
  '/calculator/distance',
]

async function begin(started: () => Promise<ChildProcess>) {
  const begun = performance.now()
  const child = await started()
  const milliseconds = performance.now() - begun
  await sleep(3_000)
  const megabytes = residentMB(child)
  await stop([child])
  return { milliseconds, megabytes }
}

async function weightOf(path: string) {
  const browser = await launchBrowser()
  try {
    const { bytes, paths } = await weigh(await browser.newPage(), `http://127.0.0.1:${PORT}${path}`)
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
  const ours: Awaited<ReturnType<typeof begin>>[] = []
  const bare: typeof ours = []
  for (let round = 0; round <= ROUNDS; round++) {
    const clearwake = await begin(startOurs)
    const baseline = await begin(startBare)
    // The first round makes the book, and brings the files into memory.
    if (round === 0) continue
    ours.push(clearwake)
    bare.push(baseline)
  }
  const row = (work: string, of: 'milliseconds' | 'megabytes') => {
    const [clearwake, baseline] = [ours, bare].map((all) => median(all.map((one) => one[of])))
    return {
      work,
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

  const child = await startOurs()
  const pages = []
  for (const path of GUEST_PAGES) pages.push(await weightOf(path))
  await stop([child])
  console.table(pages)
  report('start', { rounds: ROUNDS, rows, pages })
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
