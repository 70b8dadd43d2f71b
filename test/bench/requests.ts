import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN_ACCOUNTS, logIn } from '../support/administrator.js'
import { fill } from './book.js'
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
  type Call,
} from './measure.js'

// Throughput of Clearwake as a ratio to a bare service that does the same work, both in
// processes of their own, taken in turns so that a slow moment of the machine meets both.

interface Work extends Call {
  name: string
  aim: number
  /** Where more would wait for the bare service longer than a round lasts */
  mostClients?: number
}

const CLIENTS = [1, CONNECTIONS, 100]
const ORDERS = 10_000
const [ours, bare] = [18_801, 18_802]

const trip = { fuelType: 'mgo', quantity: 500, unit: 'l' }

const works = (token: string): Work[] => [
  { name: 'estimate', aim: 0.8, path: '/api/calculators/fuel/estimate', body: trip },
  {
    name: 'QR code, JSON with SVG and PNG',
    aim: 0.9,
    mostClients: CONNECTIONS,
    path: '/api/qr-code/generate',
    body: {
      calculatorType: 'fuel',
      calculatorData: trip,
      vessel: { name: 'Ever Given', imoNumber: '9811000' },
    },
  },
  { name: 'calculator page', aim: 0.7, path: '/calculator/fuel?fuelType=mgo&quantity=500&unit=l' },
  {
    name: 'order list page',
    aim: 0.7,
    path: '/admin/orders',
    headers: { authorization: `Bearer ${token}` },
  },
]

async function compare(work: Work, clients: number) {
  const rounds = await inTurns({
    clearwake: () => throughput(ours, work, clients),
    bare: () => throughput(bare, work, clients),
  })
  return {
    work: work.name,
    clients,
    ...summary(rounds),
    aim: work.aim,
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
fill(dataDir, ORDERS)
const children = await Promise.all([
  start(
    SERVER,
    {
      ADMIN_ACCOUNTS,
      PORT: String(ours),
      DATA_DIR: dataDir,
      RATE_LIMIT_PER_MINUTE: '1000000',
      QR_RATE_LIMIT_PER_MINUTE: '1000000',
    },
    '/calculator/fuel',
  ),
  start(
    join(import.meta.dirname, 'bare-service.js'),
    { PORT: String(bare), DATA_DIR: dataDir },
    '/calculator/fuel',
  ),
])

try {
  console.log(`${MACHINE}; answers a second, medians of ${ROUNDS} rounds of ${SECONDS} s`)
  const rows = []
  for (const work of works(await logIn(`http://127.0.0.1:${ours}`))) {
    for (const clients of CLIENTS) {
      if (clients <= (work.mostClients ?? clients)) rows.push(await compare(work, clients))
    }
  }
  console.table(rows)
  report('requests', { rounds: ROUNDS, seconds: SECONDS, orders: ORDERS, rows })
} finally {
  await stop(children)
  rmSync(dataDir, { recursive: true, force: true })
}
