import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signIn } from '../support/sign-in.js'
import { fillDatabase } from './order-data.js'
import { startClearwake, startServer } from './servers.js'
import { compareThroughput, measureThroughput, type Load } from './throughput.js'

// Throughput of Clearwake relative to bare-service.ts, which does the same with the same libraries.

interface RequestType extends Pick<Load, 'path' | 'body'> {
  scenario: string
  target: number
  isAdminOnly?: boolean
  /** With many clients, the first requests to the bare service take longer than a round */
  isSlowWhenBare?: boolean
}

const MANY_CLIENTS = 100
const CLIENTS = [1, 10, MANY_CLIENTS]
const ORDERS = 10_000
const [CLEARWAKE_PORT, BARE_PORT] = [18_801, 18_802]

const trip = { fuelType: 'mgo', quantity: 500, unit: 'l' }

const REQUEST_TYPES: RequestType[] = [
  { scenario: 'estimate', target: 0.6, path: '/api/calculators/fuel/estimate', body: trip },
  {
    scenario: 'QR code, SVG and PNG',
    target: 0.9,
    isSlowWhenBare: true,
    path: '/api/qr-code/generate',
    body: {
      calculatorType: 'fuel',
      calculatorData: trip,
      vessel: { name: 'Ever Given', imoNumber: '9811000' },
    },
  },
  {
    scenario: 'calculator page',
    target: 0.7,
    path: '/calculator/fuel?fuelType=mgo&quantity=500&unit=l',
  },
  { scenario: 'order list page', target: 0.7, path: '/admin/orders', isAdminOnly: true },
]

const scenarios = REQUEST_TYPES.flatMap((type) => CLIENTS.map((clients) => ({ ...type, clients })))

const dataDir = mkdtempSync(join(tmpdir(), 'clearwake-bench-'))

try {
  await fillDatabase(dataDir, ORDERS)
  await compareThroughput(
    'requests',
    scenarios,
    [
      () => startClearwake(CLEARWAKE_PORT, dataDir, '/calculator/fuel'),
      () =>
        startServer(
          join(import.meta.dirname, 'bare-service.js'),
          { PORT: String(BARE_PORT), DATA_DIR: dataDir },
          '/calculator/fuel',
        ),
    ],
    async () => {
      const authorization = `Bearer ${await signIn(`http://127.0.0.1:${CLEARWAKE_PORT}`)}`
      return ({ clients, isAdminOnly, isSlowWhenBare, path, body }) => {
        const load: Load = { path, body, headers: isAdminOnly ? { authorization } : {} }
        const hasFixedAmount = isSlowWhenBare && clients === MANY_CLIENTS
        const bareLoad = hasFixedAmount ? { ...load, amount: 2 * MANY_CLIENTS } : load
        return {
          clearwake: () => measureThroughput(CLEARWAKE_PORT, load, clients),
          bare: () => measureThroughput(BARE_PORT, bareLoad, clients),
        }
      }
    },
  )
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
