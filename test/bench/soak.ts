import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.js'
import { startClearwake, stopServers } from './servers.js'

// Checks that memory stays flat under load for SOAK_MINUTES. The exit code is 1 if it grows.

const run = promisify(execFile)
const MINUTES = Number(process.env.SOAK_MINUTES ?? 10)
const CONNECTIONS = '50'
const SECONDS_PER_REQUEST_TYPE = '5'
/** Allowed growth from the first third of the time to the last */
const MAX_GROWTH_MB = 40

const QR_CODE = JSON.stringify({
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  vessel: { name: 'Ever Given' },
})
/** Path, content coding, method, body */
const REQUESTS = [
  ['/calculator/fuel?quantity=500', 'br'],
  ['/api/qr-code/generate', 'identity', 'POST', QR_CODE],
  ['/calculator/fuel?data=broken&sig=x', 'gzip'],
  ['/nothing-here', 'br'],
  ['/admin/orders', 'identity'],
] as const

const port = await freePort()
const url = `http://127.0.0.1:${port}`
const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-soak-'))
const loadGenerator = join(import.meta.dirname, '..', 'support', 'load-generator.js')

async function readMemoryMB(): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1024 / 1024)
}

const average = (values: number[]): number =>
  Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)

const service = await startClearwake(port, dataDir, '/healthz')
try {
  const memoryMB: number[] = []
  const deadline = performance.now() + MINUTES * 60_000
  for (let round = 1; performance.now() < deadline; round++) {
    for (const [path, ...options] of REQUESTS) {
      const parameters = [url + path, CONNECTIONS, SECONDS_PER_REQUEST_TYPE, ...options]
      await run(process.execPath, [loadGenerator, ...parameters])
    }
    memoryMB.push(await readMemoryMB())
    console.log(`Round ${round}: ${memoryMB.at(-1)} MB`)
  }
  const third = Math.max(1, Math.floor(memoryMB.length / 3))
  const [first, last] = [average(memoryMB.slice(0, third)), average(memoryMB.slice(-third))]
  console.log(`${first} MB in the first third of ${MINUTES} minutes, ${last} MB in the last`)
  if (last > first + MAX_GROWTH_MB) process.exitCode = 1
} finally {
  await stopServers([service])
  rmSync(dataDir, { recursive: true, force: true })
}
