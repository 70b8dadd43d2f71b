import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { hashPassword } from '../accounts/password.js'
import { EXAMPLES, type Calculation } from '../calculator/calculator-data.js'
import type { Vessel } from '../calculator/vessel.js'
import { createDayCalendar } from '../core/formatting/day-calendar.js'
import { createDemoOrders } from '../demo/demo-orders.js'
import { startFakeProvider, type FakeProvider } from '../demo/fake-provider/fake-provider.js'
import { startFakeStripe, type FakeStripe } from '../demo/fake-stripe/fake-stripe.js'
import { createMailbox } from '../demo/mailbox.js'
import { addAttempts, createProviderOrders } from '../demo/provider-orders.js'
import {
  addCertificates,
  addConversions,
  addGuestOrder,
  seedOrderStore,
} from '../demo/sample-data.js'
import type { Order } from '../orders/order.js'
import { startServer } from '../start-server.js'

const TRIPS: { calculation: Calculation; vessel: Vessel }[] = [
  { calculation: EXAMPLES.fuel, vessel: { name: 'Eendracht', imoNumber: '8814275' } },
  { calculation: EXAMPLES.distance, vessel: { name: 'Queen Mary 2', imoNumber: '9241061' } },
  { calculation: EXAMPLES.custom, vessel: { name: 'Αργοναύτης' } },
]

/** Returns `port` if it is free, otherwise 0 (any free port). */
async function findPort(port: number): Promise<number> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once('error', () => resolve(0))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(port)))
  })
}

/** Fixed, so that examples can be copied. The demo listens on the loopback address only. */
const ADMINISTRATOR = { email: 'admin@example.com', password: 'clearwake demo only' }

/** Starts a fake provider unless a provider is configured. */
async function startProvider(): Promise<FakeProvider | null> {
  const { ORDERSOURCE_BASE_URL = '', ORDERSOURCE_API_TOKEN = '' } = process.env
  if (ORDERSOURCE_BASE_URL.trim() !== '' || ORDERSOURCE_API_TOKEN.trim() !== '') return null
  // Higher than in earlier runs, whose orders may still have their IDs.
  return startFakeProvider({ token: randomUUID(), firstId: Math.floor(Date.now() / 1000) })
}

/** Starts a fake Stripe unless Stripe or another payment method is configured. */
async function startStripe(): Promise<FakeStripe | null> {
  const { PAYMENT = '', STRIPE_SECRET_KEY = '', STRIPE_WEBHOOK_SECRET = '' } = process.env
  if ([PAYMENT, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET].some((text) => text.trim() !== '')) {
    return null
  }
  return startFakeStripe({
    secretKey: `sk_test_${randomUUID()}`,
    webhookSecret: `whsec_${randomUUID()}`,
  })
}

/** Seeds an empty order store, and the fake provider with the matching offset orders. */
async function seed(app: FastifyInstance, provider: FakeProvider | null) {
  const { orders: store, database } = app
  const now = new Date()
  const isNew = await seedOrderStore(database, now)
  if (isNew) {
    const orders = [...createDemoOrders({ now })]
    await addConversions(database, createDayCalendar(app.config.TIME_ZONE), orders)
    await addCertificates(database, orders)
    await addAttempts(store)
  }
  const providerOrders = await createProviderOrders(store)
  provider?.ledger.load(providerOrders.entries)
  // After the provider's orders are loaded, so that the guest order gets the next ID.
  const guestOrder = isNew && provider !== null ? await addGuestOrder(store) : null
  return { ...providerOrders, guestOrder }
}

const { PORT = '3000', ADMIN_ACCOUNTS = '', DATA_DIR = '' } = process.env
const provider = await startProvider()
const stripe = await startStripe()
const hasAccounts = ADMIN_ACCOUNTS.trim() !== ''
const accounts = hasAccounts
  ? ADMIN_ACCOUNTS
  : `${ADMINISTRATOR.email}:${await hashPassword(ADMINISTRATOR.password)}`
const mailbox = createMailbox()
const environment = {
  LOG_LEVEL: 'warn',
  CURRENCY: 'EUR',
  WEBHOOK_ALLOW_LOOPBACK: 'true',
  SERVICE_FEE_PERCENT: '5',
  TERMS_URL: 'https://example.com/terms',
  PRIVACY_URL: 'https://example.com/privacy',
  PAYMENT_INSTRUCTIONS:
    'Bank transfer to Harbour Example: PT50 0002 0123 1234 5678 9015 4\nOr at the harbour office, every day from 8:00 to 20:00.',
  ...(provider && { AUTO_FULFIL: 'true', ORDERSOURCE_NAME: 'Fake provider' }),
  ...process.env,
  ...(provider && { ORDERSOURCE_BASE_URL: provider.url, ORDERSOURCE_API_TOKEN: provider.token }),
  ...(stripe && {
    PAYMENT: 'stripe',
    STRIPE_SECRET_KEY: stripe.secretKey,
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    STRIPE_API_URL: stripe.url,
    STRIPE_CHECKOUT_URL: stripe.url,
  }),
  HOST: '127.0.0.1',
  ADMIN_ACCOUNTS: accounts,
  PORT: String(await findPort(Number(PORT) || 0)),
  DATA_DIR: DATA_DIR.trim() === '' ? './data/demo' : DATA_DIR,
  // The demo never writes to a configured database.
  DATABASE_URL: '',
  DATABASE_BASE_URL: '',
  DATABASE_BASE_ID: '',
  DATABASE_API_KEY: '',
  DATABASE_ORDERS_TABLE_ID: '',
  // The demo sends no emails.
  SMTP_URL: '',
  MAIL_FROM: '',
}
const app = await startServer(environment, {
  mailDelivery: mailbox.delivery,
  pages: mailbox.pages,
})
const { differing, missing, uncertain, guestOrder } = await seed(app, provider)

const base = app.publicBaseUrl()
if (stripe) stripe.sender.url = `${base}/api/payments/stripe/webhook`
const formatOrderLink = (label: string, order: Order | undefined) =>
  order ? [`  ${label.padEnd(28)} ${base}/admin/orders/${order.id}`] : []
const comparisons = [
  ...formatOrderLink('Placed for less CO2e', differing),
  ...formatOrderLink('Not found', missing),
  ...uncertain.placed.flatMap((order) => formatOrderLink('No response, placed', order)),
  ...uncertain.notPlaced.flatMap((order) => formatOrderLink('No response, not placed', order)),
]
const guestOrderLine = guestOrder
  ? `  Guest's order     ${base}/o/${await app.orderLinks.create(guestOrder)} (with a certificate)\n`
  : ''
const codes = TRIPS.map(({ calculation, vessel }) => {
  const { url } = app.prefillLinks.create(calculation, vessel)
  return `  ${vessel.name}, ${calculation.calculatorType} calculator\n    ${url}`
})
process.stdout.write(`
Clearwake demo is running. Press Ctrl-C to stop.

  Calculators       ${base}/
  QR code test      ${base}/qr-test
  Admin portal      ${base}/admin
  Emails to guests  ${base}/demo/mail
  API reference     ${base}/docs
  Order source      ${base}/api/ordersource/portfolios${provider ? ' (fake provider)' : ''}
  Payments          ${stripe ? 'fake Stripe: no money moves' : `PAYMENT=${app.config.PAYMENT}`}
${guestOrderLine}  Sign in           ${hasAccounts ? 'with an account from ADMIN_ACCOUNTS' : `${ADMINISTRATOR.email}, password: ${ADMINISTRATOR.password}`}

Pre-filled calculators (QR code links, valid for 30 days):
${codes.join('\n')}
${provider ? `\nOrders that differ at the provider:\n${comparisons.join('\n')}\n` : ''}`)
