import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CONNECTIONS,
  inTurns,
  MACHINE,
  report,
  ROUNDS,
  SECONDS,
  SERVER,
  start,
  stop,
  summary,
  throughput,
} from './measure.js'

// Throughput of the relay to the order source, as a ratio to the bare @fastify/http-proxy before
// the same order source, and that one asked directly; each in a process of its own, in turns. Guests
// who ask the same at the same moment are one call of the order source; the others are one each.

const AIM = 0.9
const WARM_UP_SECONDS = 5
const CLIENTS = [1, CONNECTIONS, 100]
const PATH = '/api/ordersource/portfolios'

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const [source, ours, bare] = [18_803, 18_804, 18_805]
const upstream = `http://127.0.0.1:${source}`
const peers = join(import.meta.dirname, 'bare-proxy.js')

const children = [await start(peers, { PORT: String(source) }, '/')]
try {
  children.push(
    await start(
      SERVER,
      {
        PORT: String(ours),
        DATA_DIR: dataDir,
        RATE_LIMIT_PER_MINUTE: '1000000',
        ORDERSOURCE_BASE_URL: upstream,
        ORDERSOURCE_API_TOKEN: 'token-of-the-bench',
      },
      PATH,
    ),
    await start(peers, { PORT: String(bare), UPSTREAM: upstream }, PATH),
  )
  // One client alone asks too seldom for all of the code to be compiled in its rounds.
  for (let second = 0; second < WARM_UP_SECONDS; second += SECONDS) {
    for (const port of [ours, bare]) await throughput(port, { path: PATH, isEachItsOwn: true })
  }
  // One alone has nobody to share with.
  const works = CLIENTS.flatMap((clients) => [
    ...(clients > 1 ? [{ work: 'relay, all ask the same', clients, isEachItsOwn: false }] : []),
    { work: 'relay, each asks something else', clients, isEachItsOwn: true },
  ])
  const rows = []
  for (const { work, clients, isEachItsOwn } of works) {
    const call = { path: PATH, isEachItsOwn }
    const rounds = await inTurns({
      clearwake: () => throughput(ours, call, clients),
      bare: () => throughput(bare, call, clients),
      direct: () => throughput(source, call, clients),
    })
    rows.push({
      work,
      clients,
      ...summary(rounds),
      aim: AIM,
    })
  }
  console.log(`${MACHINE}; answers a second, medians of ${ROUNDS} rounds of ${SECONDS} s`)
  console.table(rows)
  report('proxy', { rounds: ROUNDS, seconds: SECONDS, rows })
} finally {
  await stop(children)
  rmSync(dataDir, { recursive: true, force: true })
}
