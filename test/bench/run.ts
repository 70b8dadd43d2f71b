import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../src/project-root.js'
import { CONNECTIONS, MACHINE, median, ROUNDS, SECONDS, start, throughput } from './throughput.js'

// Throughput of Clearwake as a ratio to a bare baseline that does the same work, both in
// processes of their own, taken in turns so that a slow moment of the machine meets both.

interface Work {
  name: string
  aim: number
  path: string
  body?: unknown
}

const trip = { fuelType: 'mgo', quantity: 500, unit: 'l' }

const WORKS: Work[] = [
  { name: 'estimate', aim: 0.8, path: '/api/calculators/fuel/estimate', body: trip },
  {
    name: 'QR code, JSON with SVG and PNG',
    aim: 0.9,
    path: '/api/qr-code/generate',
    body: {
      calculatorType: 'fuel',
      calculatorData: trip,
      vessel: { name: 'Ever Given', imoNumber: '9811000' },
    },
  },
  { name: 'calculator page', aim: 0.7, path: '/calculator/fuel?fuelType=mgo&quantity=500&unit=l' },
]

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const [ours, bare] = [40_801, 40_802]
const children = await Promise.all([
  start(
    join(projectRoot, 'dist/server.js'),
    {
      PORT: String(ours),
      DATA_DIR: dataDir,
      RATE_LIMIT_PER_MINUTE: '1000000',
      QR_RATE_LIMIT_PER_MINUTE: '1000000',
    },
    '/calculator/fuel',
  ),
  start(join(import.meta.dirname, 'baseline.js'), { PORT: String(bare) }, '/calculator/fuel'),
])

try {
  const rows = []
  for (const work of WORKS) {
    const rounds: { clearwake: number; baseline: number }[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const clearwake = await throughput(ours, work.path, work.body)
      const baseline = await throughput(bare, work.path, work.body)
      // The first round warms both up.
      if (round > 0) rounds.push({ clearwake, baseline })
    }
    const ratio = median(rounds.map(({ clearwake, baseline }) => clearwake / baseline))
    rows.push({
      work: work.name,
      clearwake: Math.round(median(rounds.map(({ clearwake }) => clearwake))),
      baseline: Math.round(median(rounds.map(({ baseline }) => baseline))),
      ratio: Math.round(ratio * 100) / 100,
      aim: work.aim,
    })
  }
  console.log(
    `${MACHINE}; answers a second, medians of ${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections`,
  )
  console.table(rows)
  const file = join(projectRoot, '.test/bench.json')
  writeFileSync(
    file,
    JSON.stringify({ machine: MACHINE, rounds: ROUNDS, seconds: SECONDS, rows }, null, 2),
  )
  console.log(`Written to ${file}`)
} finally {
  for (const child of children) child.kill()
  rmSync(dataDir, { recursive: true, force: true })
}
