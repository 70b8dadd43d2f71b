import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signIn } from '../support/sign-in.js'
import { fillDatabase } from './order-data.js'
import { compare, CONNECTIONS, start, startClearwake, throughput, type Call } from './measure.js'

// Throughput of Clearwake as a ratio to a bare service that does the same work. Both run as separate
// processes and take turns, so that a slow phase of the machine affects both.

interface Work extends Omit<Call, 'headers' | 'answers'> {
  work: string
  aim: number
  /** Whether it requires an administrator */
  needsLogin?: boolean
  /** Whether requests to the bare service take longer than a round */
  isSlowForMany?: boolean
}

const MANY = 100
const CLIENTS = [1, CONNECTIONS, MANY]
const ORDERS = 10_000
const [ours, bare] = [18_801, 18_802]

const trip = { fuelType: 'mgo', quantity: 500, unit: 'l' }

const WORKLOADS: Work[] = [
  { work: 'estimate', aim: 0.6, path: '/api/calculators/fuel/estimate', body: trip },
  {
    work: 'QR code, JSON with SVG and PNG',
    aim: 0.9,
    isSlowForMany: true,
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

const workloads = WORKLOADS.flatMap((workload) =>
  CLIENTS.map((clients) => ({ ...workload, clients })),
)

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))

try {
  fillDatabase(dataDir, ORDERS)
  await compare(
    'requests',
    workloads,
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
      const authorization = `Bearer ${await signIn(`http://127.0.0.1:${ours}`)}`
      return ({ clients, needsLogin, isSlowForMany, ...work }) => {
        const call: Call = { ...work, headers: needsLogin ? { authorization } : {} }
        const isSlow = isSlowForMany && clients === MANY
        return {
          clearwake: () => throughput(ours, call, clients),
          bare: () => throughput(bare, isSlow ? { ...call, answers: 2 * MANY } : call, clients),
        }
      }
    },
  )
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
