import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN_ACCOUNTS, logIn } from '../support/administrator.js'
import { fill } from './book.js'
import { compare, CONNECTIONS, SERVER, start, throughput, type Call } from './measure.js'

// Throughput of Clearwake as a ratio to a bare service that does the same work, both in
// processes of their own, taken in turns so that a slow moment of the machine meets both.

interface Work extends Omit<Call, 'headers'> {
  work: string
  aim: number
  /** Whether it is an administrator's */
  needsLogin?: boolean
  /** Where more would wait for the bare service longer than a round lasts */
  mostClients?: number
}

const CLIENTS = [1, CONNECTIONS, 100]
const ORDERS = 10_000
const [ours, bare] = [18_801, 18_802]

const trip = { fuelType: 'mgo', quantity: 500, unit: 'l' }

const WORKS: Work[] = [
  { work: 'estimate', aim: 0.8, path: '/api/calculators/fuel/estimate', body: trip },
  {
    work: 'QR code, JSON with SVG and PNG',
    aim: 0.9,
    mostClients: CONNECTIONS,
    path: '/api/qr-code/generate',
    body: {
      calculatorType: 'fuel',
      calculatorData: trip,
      vessel: { name: 'Ever Given', imoNumber: '9811000' },
    },
  },
  { work: 'calculator page', aim: 0.7, path: '/calculator/fuel?fuelType=mgo&quantity=500&unit=l' },
  { work: 'order list page', aim: 0.7, path: '/admin/orders', needsLogin: true },
]

const works = WORKS.flatMap((work) =>
  CLIENTS.filter((clients) => clients <= (work.mostClients ?? clients)).map((clients) => ({
    ...work,
    clients,
  })),
)

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))
const environment = {
  ADMIN_ACCOUNTS,
  PORT: String(ours),
  DATA_DIR: dataDir,
  RATE_LIMIT_PER_MINUTE: '1000000',
  QR_RATE_LIMIT_PER_MINUTE: '1000000',
}

try {
  fill(dataDir, ORDERS)
  await compare(
    'requests',
    works,
    [
      () => start(SERVER, environment, '/calculator/fuel'),
      () =>
        start(
          join(import.meta.dirname, 'bare-service.js'),
          { PORT: String(bare), DATA_DIR: dataDir },
          '/calculator/fuel',
        ),
    ],
    async () => {
      const authorization = `Bearer ${await logIn(`http://127.0.0.1:${ours}`)}`
      return ({ clients, needsLogin, ...call }) => {
        const headers = needsLogin ? { authorization } : {}
        const at = (port: number) => () => throughput(port, { ...call, headers }, clients)
        return { clearwake: at(ours), bare: at(bare) }
      }
    },
  )
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
