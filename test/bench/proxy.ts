import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN_ACCOUNTS } from '../support/administrator.js'
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
/**
 * How often all are started anew: what a process has compiled, and where its memory lies, makes it
 * a tenth faster or slower than the next of the same code, for as long as it lives.
 */
const STARTS = 5
const ROUNDS_OF_START = Math.ceil(ROUNDS / STARTS)
const CLIENTS = [1, CONNECTIONS, 100]
const PATH = '/api/ordersource/portfolios'

const [source, ours, bare] = [18_803, 18_804, 18_805]
const upstream = `http://127.0.0.1:${source}`
const peers = join(import.meta.dirname, 'bare-proxy.js')

// One alone has nobody to share with.
const works = CLIENTS.flatMap((clients) => [
  ...(clients > 1 ? [{ work: 'relay, all ask the same', clients, isEachItsOwn: false }] : []),
  { work: 'relay, each asks something else', clients, isEachItsOwn: true },
]).map((work) => ({ ...work, rounds: [] as Record<'clearwake' | 'bare' | 'direct', number>[] }))

for (let started = 0; started < STARTS; started++) {
  const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
  const children = [await start(peers, { PORT: String(source) }, '/')]
  try {
    children.push(
      await start(
        SERVER,
        {
          ADMIN_ACCOUNTS,
          PORT: String(ours),
          DATA_DIR: dataDir,
          RATE_LIMIT_PER_MINUTE: '1000000',
          ORDERSOURCE_BASE_URL: upstream,
          ORDERSOURCE_API_TOKEN: 'token-of-the-bench',
        },
        PATH,
      ),
    )
    children.push(await start(peers, { PORT: String(bare), UPSTREAM: upstream }, PATH))
    // One client alone asks too seldom for all of the code to be compiled in its rounds.
    for (let second = 0; second < WARM_UP_SECONDS; second += SECONDS) {
      for (const port of [ours, bare]) await throughput(port, { path: PATH, isEachItsOwn: true })
    }
    for (const { clients, isEachItsOwn, rounds } of works) {
      const call = { path: PATH, isEachItsOwn }
      const measured = await inTurns(
        {
          clearwake: () => throughput(ours, call, clients),
          bare: () => throughput(bare, call, clients),
          direct: () => throughput(source, call, clients),
        },
        ROUNDS_OF_START,
      )
      rounds.push(...measured)
    }
  } finally {
    await stop(children)
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const rows = works.map(({ work, clients, rounds }) => ({
  work,
  clients,
  ...summary(rounds),
  aim: AIM,
}))
console.log(
  `${MACHINE}; answers a second, medians of ${ROUNDS_OF_START} rounds of ${SECONDS} s after each of ${STARTS} starts`,
)
console.table(rows)
report('proxy', { starts: STARTS, rounds: STARTS * ROUNDS_OF_START, seconds: SECONDS, rows })
