import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { distPath } from '../support/dist-path.js'
import { freePort } from '../support/free-port.js'
import { waitUntil } from '../support/wait-for.js'

// Checks that memory stays flat under load for SOAK_MINUTES. Exits with 1 if it grows.

const run = promisify(execFile)
const MINUTES = Number(process.env.SOAK_MINUTES ?? 10)
const CONNECTIONS = '50'
const STEP_SECONDS = '5'
/** Allowed growth from the first third of the time to the last. */
const SLACK_MEGABYTES = 40

const QR_CODE = JSON.stringify({
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  vessel: { name: 'Ever Given' },
})
const WORKLOADS = [
  ['/calculator/fuel?quantity=500', 'br'],
  ['/api/qr-code/generate', 'identity', 'POST', QR_CODE],
  ['/calculator/fuel?data=broken&sig=x', 'gzip'],
  ['/nothing-here', 'br'],
  ['/admin/orders', 'identity'],
] as const

const port = await freePort()
const url = `http://127.0.0.1:${port}`
const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-soak-'))
const service = spawn(process.execPath, [distPath('server.js')], {
  cwd: dataDir,
  stdio: 'ignore',
  env: {
    PATH: process.env.PATH,
    PORT: String(port),
    DATA_DIR: dataDir,
    RATE_LIMIT_PER_MINUTE: '1000000',
    QR_RATE_LIMIT_PER_MINUTE: '1000000',
  },
})

async function megabytes(): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1024 / 1024)
}

const average = (values: number[]): number =>
  Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)

try {
  const isThere = async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok === true
  if (!(await waitUntil(isThere))) throw new Error('the service does not start')
  const found: number[] = []
  const ends = performance.now() + MINUTES * 60_000
  for (let round = 1; performance.now() < ends; round++) {
    for (const [path, ...how] of WORKLOADS) {
      const script = join(import.meta.dirname, '..', 'support', 'load-generator.js')
      await run(process.execPath, [script, url + path, CONNECTIONS, STEP_SECONDS, ...how])
    }
    found.push(await megabytes())
    console.log(`round ${round}: ${found.at(-1)} MB`)
  }
  const third = Math.max(1, Math.floor(found.length / 3))
  const [first, last] = [average(found.slice(0, third)), average(found.slice(-third))]
  console.log(`${first} MB in the first third of ${MINUTES} minutes, ${last} MB in the last`)
  if (last > first + SLACK_MEGABYTES) process.exitCode = 1
} finally {
  service.kill()
  rmSync(dataDir, { recursive: true, force: true })
}
