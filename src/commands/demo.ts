import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import type { Calculation } from '../calculator/calculator-data.js'
import { EXAMPLES } from '../calculator/examples.js'
import type { Vessel } from '../calculator/vessel.js'
import { startFakeProvider, type FakeProvider } from '../provider/fake-provider/fake-provider.js'
import { getOrderStorePath, openOrderDatabase } from '../order-store/sqlite/sqlite-order-store.js'
import { createProviderOrders, addFulfilmentAttempts } from '../demo/provider-orders.js'
import { seedOrderStore } from '../demo/seed-order-store.js'
import type { Order } from '../orders/order.js'
import { hashPassword } from '../accounts/password.js'
import { createLinkSigner } from '../qr-code/link-signature.js'
import { createPrefillLinks } from '../qr-code/prefill-link.js'
import { startServer } from '../start-server.js'

const TRIPS: { calculation: Calculation; vessel: Vessel }[] = [
  { calculation: EXAMPLES.fuel, vessel: { name: 'Eendracht', imoNumber: '8814275' } },
  { calculation: EXAMPLES.distance, vessel: { name: 'Queen Mary 2', imoNumber: '9241061' } },
  { calculation: EXAMPLES.custom, vessel: { name: 'Αργοναύτης' } },
]

/** The port wanted if it is free, else 0, for some other. */
async function freePort(wanted: number): Promise<number> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once('error', () => resolve(0))
    probe.listen(wanted, '127.0.0.1', () => probe.close(() => resolve(wanted)))
  })
}

/** For this machine alone, so that examples can be pasted. */
const ADMINISTRATOR = { email: 'admin@example.com', password: 'clearwake demo only' }

/** An order source for as long as the demonstration runs, unless one is configured. */
async function orderSource(): Promise<FakeProvider | null> {
  const { ORDERSOURCE_BASE_URL = '', ORDERSOURCE_API_TOKEN = '' } = process.env
  if (ORDERSOURCE_BASE_URL.trim() !== '' || ORDERSOURCE_API_TOKEN.trim() !== '') return null
  return startFakeProvider({ token: randomUUID() })
}

/** Fills the book if it is empty, and the stand-in with what it is to know of that book. */
async function fill(dataDir: string, timeZone: string, standIn: FakeProvider | null) {
  const path = getOrderStorePath(dataDir)
  const isNew = seedOrderStore(path)
  const book = openOrderDatabase({ path, timeZone })
  if (isNew) await addFulfilmentAttempts(book)
  const offsetOrders = await createProviderOrders(book)
  standIn?.ledger.enter(offsetOrders.entries)
  await book.close()
  return offsetOrders
}

const { PORT = '3000', ADMIN_ACCOUNTS = '', DATA_DIR = '' } = process.env
const standIn = await orderSource()
const hasAccounts = ADMIN_ACCOUNTS.trim() !== ''
const accounts = hasAccounts
  ? ADMIN_ACCOUNTS
  : `${ADMINISTRATOR.email}:${await hashPassword(ADMINISTRATOR.password)}`
const app = await startServer({
  LOG_LEVEL: 'warn',
  CURRENCY: 'EUR',
  ...process.env,
  ...(standIn && { ORDERSOURCE_BASE_URL: standIn.url, ORDERSOURCE_API_TOKEN: standIn.token }),
  // A demonstration is for this machine alone.
  HOST: '127.0.0.1',
  ADMIN_ACCOUNTS: accounts,
  PORT: String(await freePort(Number(PORT) || 0)),
  DATA_DIR: DATA_DIR.trim() === '' ? './data/demo' : DATA_DIR,
  // Its orders are its own.
  DATABASE_BASE_URL: '',
  DATABASE_BASE_ID: '',
  DATABASE_API_KEY: '',
  DATABASE_ORDERS_TABLE_ID: '',
})
const { DATA_DIR: dataDir, TIME_ZONE: timeZone } = app.config
const { differing, missing, unknown } = await fill(dataDir, timeZone, standIn)

const base = app.publicBaseUrl()
const pageOf = (what: string, order: Order | undefined) =>
  order ? [`  ${what.padEnd(30)} ${base}/admin/orders/${order.id}`] : []
const comparisons = [
  ...pageOf('Differs there', differing),
  ...pageOf('Not found there', missing),
  ...unknown.arrived.flatMap((order) => pageOf('Sent, no answer, and there', order)),
  ...unknown.lost.flatMap((order) => pageOf('Sent, no answer, not there', order)),
]
const links = createPrefillLinks(createLinkSigner(app.config.sessionSecrets), app.publicBaseUrl)
const codes = TRIPS.map(({ calculation, vessel }) => {
  const { url } = links.create(calculation, vessel)
  return `  ${vessel.name}, ${calculation.calculatorType} calculator\n    ${url}`
})
process.stdout.write(`
Clearwake runs on this machine; Ctrl-C ends it.

  Calculators       ${base}/
  QR code test      ${base}/qr-test
  API               ${base}/docs
  Order source      ${base}/api/ordersource/portfolios${standIn ? ', a stand-in' : ''}
  Administrator     ${hasAccounts ? 'of ADMIN_ACCOUNTS' : `${ADMINISTRATOR.email}, password: ${ADMINISTRATOR.password}`}

What a guest opens by scanning a code (valid for 30 days):
${codes.join('\n')}
${standIn ? `\nOrders that the order source knows otherwise, or not at all:\n${comparisons.join('\n')}\n` : ''}`)
