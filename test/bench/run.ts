import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { projectRoot } from '../../src/project-root.js'

// Throughput of Clearwake as a ratio to a bare baseline that does the same work, both in
// processes of their own, taken in turns so that a slow moment of the machine meets both.

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
const CONNECTIONS = 10

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

async function start(script: string, environment: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = fork(script, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  for (let i = 0; i < 100; i++) {
    const answer = await fetch(`http://127.0.0.1:${environment.PORT}/calculator/fuel`).catch(
      () => null,
    )
    if (answer?.ok) return child
    await sleep(100)
  }
  throw new Error(`${script} does not answer`)
}

/** Answers a second, after making sure that they are answers. */
async function throughput(port: number, { path, body }: Work): Promise<number> {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}${path}`,
    connections: CONNECTIONS,
    duration: SECONDS,
    ...(body === undefined
      ? {}
      : {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
  })
  if (result.non2xx + result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} refused, ${result.errors} failed`)
  return result.requests.average
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const [ours, bare] = [40_801, 40_802]
const children = await Promise.all([
  start(join(projectRoot, 'dist/server.js'), {
    PORT: String(ours),
    DATA_DIR: dataDir,
    RATE_LIMIT_PER_MINUTE: '1000000',
    QR_RATE_LIMIT_PER_MINUTE: '1000000',
  }),
  start(join(import.meta.dirname, 'baseline.js'), { PORT: String(bare) }),
])

try {
  const rows = []
  for (const work of WORKS) {
    const rounds: { clearwake: number; baseline: number }[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const clearwake = await throughput(ours, work)
      const baseline = await throughput(bare, work)
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
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`
  console.log(
    `${machine}; answers a second, medians of ${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections`,
  )
  console.table(rows)
  const file = join(projectRoot, '.test/bench.json')
  writeFileSync(file, JSON.stringify({ machine, rounds: ROUNDS, seconds: SECONDS, rows }, null, 2))
  console.log(`Written to ${file}`)
} finally {
  for (const child of children) child.kill()
  rmSync(dataDir, { recursive: true, force: true })
}
