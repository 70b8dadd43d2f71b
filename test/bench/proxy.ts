import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compare, CONNECTIONS, start, startClearwake, throughput } from './measure.js'

// Throughput of the provider proxy, as a ratio to a bare @fastify/http-proxy before the same provider,
// and to the provider itself; each in its own process, in turns. Identical concurrent requests of
// guests share one upstream request.

const AIM = 0.6
const CLIENTS = [1, CONNECTIONS, 100]
const PATH = '/api/ordersource/portfolios'

const [source, ours, bare] = [18_803, 18_804, 18_805]
const upstream = `http://127.0.0.1:${source}`
const peers = join(import.meta.dirname, 'bare-proxy.js')

const workloads = CLIENTS.flatMap((clients) => [
  { work: 'relay, all ask the same', clients, aim: AIM, isEachItsOwn: false },
  { work: 'relay, each asks something else', clients, aim: AIM, isEachItsOwn: true },
])

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const environment = {
  ORDERSOURCE_BASE_URL: upstream,
  ORDERSOURCE_API_TOKEN: 'token-of-the-bench',
}

try {
  await compare(
    'proxy',
    workloads,
    [
      () => start(peers, { PORT: String(source) }, '/'),
      () => startClearwake(ours, dataDir, PATH, environment),
      () => start(peers, { PORT: String(bare), UPSTREAM: upstream }, PATH),
    ],
    async () =>
      ({ clients, isEachItsOwn }) => {
        const at = (port: number) => () => throughput(port, { path: PATH, isEachItsOwn }, clients)
        return { clearwake: at(ours), bare: at(bare), direct: at(source) }
      },
  )
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
