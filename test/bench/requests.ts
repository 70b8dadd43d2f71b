import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logIn } from '../support/administrator.js'
import { fill } from './book.js'
import { compare, CONNECTIONS, start, startClearwake, throughput, type Call } from './measure.js'

// Throughput of Clearwake as a ratio to a bare service that does the same work, both in
// processes of their own, taken in turns so that a slow moment of the machine meets both.

interface Work extends Omit<Call, 'headers' | 'seconds'> {
  work: string
  aim: number
  /** Whether it is an administrator's */
  needsLogin?: boolean
  /** How long many clients ask, where they wait for the bare service longer than a round lasts */
  secondsOfMany?: number
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
    secondsOfMany: 6,
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

const works = WORKS.flatMap(({ secondsOfMany, ...work }) =>
  CLIENTS.map((clients) => ({
    ...work,
    clients,
    ...(clients > CONNECTIONS && secondsOfMany && { seconds: secondsOfMany }),
  })),
)

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))

try {
  fill(dataDir, ORDERS)
  await compare(
    'requests',
    works,
    [
      () => startClearwake(ours, dataDir, '/calculator/fuel'),
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
