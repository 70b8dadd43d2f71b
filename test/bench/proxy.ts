import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startClearwake, startServer } from './servers.js'
import { compareThroughput, measureThroughput } from './throughput.js'

// Throughput of the proxy relative to the bare @fastify/http-proxy, and throughput of the
// provider without either. Clearwake coalesces identical concurrent requests.

const TARGET = 0.6
const CLIENTS = [1, 10, 100]
const PATH = '/api/ordersource/portfolios'

const [PROVIDER_PORT, CLEARWAKE_PORT, BARE_PORT] = [18_803, 18_804, 18_805]
const providerUrl = `http://127.0.0.1:${PROVIDER_PORT}`
const script = join(import.meta.dirname, 'bare-proxy.js')

const scenarios = CLIENTS.flatMap((clients) => [
  { scenario: 'proxy, identical requests', clients, target: TARGET, hasDistinctQueries: false },
  { scenario: 'proxy, distinct requests', clients, target: TARGET, hasDistinctQueries: true },
])

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const environment = {
  ORDERSOURCE_BASE_URL: providerUrl,
  ORDERSOURCE_API_TOKEN: 'benchmark-token',
}

try {
  await compareThroughput(
    'proxy',
    scenarios,
    [
      () => startServer(script, { PORT: String(PROVIDER_PORT) }, '/'),
      () => startClearwake(CLEARWAKE_PORT, dataDir, PATH, environment),
      () => startServer(script, { PORT: String(BARE_PORT), UPSTREAM: providerUrl }, PATH),
    ],
    async () =>
      ({ clients, hasDistinctQueries }) => {
        const measure = (port: number) => () =>
          measureThroughput(port, { path: PATH, hasDistinctQueries }, clients)
        return {
          clearwake: measure(CLEARWAKE_PORT),
          bare: measure(BARE_PORT),
          direct: measure(PROVIDER_PORT),
        }
      },
  )
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
