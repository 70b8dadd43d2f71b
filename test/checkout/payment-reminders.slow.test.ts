import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createReminders } from '../../src/checkout/guest-mail/guest-mail.js'
import { DAY_MS } from '../../src/core/time.js'
import type { NewOrder } from '../../src/orders/order.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { createGuest, toText } from '../support/guest.js'
import { mailEnvironment, skipPauses } from '../support/mail-service.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'
import { startSmtpServer } from '../support/smtp-server.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'

const CHECKOUT: NonNullable<NewOrder['checkout']> = {
  beneficiary: 'Ann Example',
  isPublic: false,
  company: null,
  vatId: null,
  portfolioId: null,
  portfolioName: null,
  sharePercent: 100,
  pricePerTonneMinor: 2500,
  offsetMinor: 4009,
  serviceFeeMinor: 0,
  paymentMethod: 'invoice',
}

/** A guest's order that was placed days ago. */
const placedAgo = (days: number, given: Partial<NewOrder> = {}): NewOrder =>
  newOrder({
    placedAt: new Date(Date.now() - days * DAY_MS).toISOString(),
    origin: 'guest',
    checkout: CHECKOUT,
    ...given,
  })

const ACCOUNT = {
  PAYMENT_IBAN: 'PT50 0002 0123 1234 5678 9015 4',
  PAYMENT_ACCOUNT_NAME: 'Harbour Example',
}

/** Adds orders before the service that sends emails starts, as if they were older. */
async function startWithOrders(
  t: Test,
  orders: readonly NewOrder[],
  environment: NodeJS.ProcessEnv = {},
) {
  const DATA_DIR = temporaryFolder(t)
  const before = await startApp(t, { DATA_DIR, ...environment })
  for (const order of orders) await before.app.orders.create(order, 'guest')
  await waitForEqual(t, () => before.app.database.query('SELECT id FROM order_events'), [])
  await before.app.close()
  const smtp = await startSmtpServer(t)
  const settings = { ...(await mailEnvironment(smtp)), ...ACCOUNT, DATA_DIR, ...environment }
  const service = await startTwoAdmins(t, settings)
  const readReminders = () =>
    service.app.database.query<{ orderId: string; state: string }>(
      `SELECT order_id AS "orderId", state FROM outbox WHERE type = 'payment_reminder'
       ORDER BY order_id`,
    )
  const isReminder = ({ headers }: (typeof smtp.mails)[number]) =>
    headers.get('subject')?.startsWith('Payment reminder') ?? false
  return {
    ...service,
    settings,
    smtp,
    readReminders,
    getMails: () => smtp.mails.filter(isReminder),
  }
}

async function testReminders(t: Test, environment: NodeJS.ProcessEnv): Promise<void> {
  const service = await startWithOrders(
    t,
    [
      placedAgo(16, { customerEmail: 'late@example.com' }),
      placedAgo(13, { customerEmail: 'early@example.com' }),
      placedAgo(46, { customerEmail: 'forgotten@example.com' }),
      placedAgo(16, { customerEmail: 'paid@example.com', status: 'paid' }),
      placedAgo(16, { checkout: { ...CHECKOUT, paymentMethod: 'stripe' } }),
      placedAgo(16, { origin: 'admin', checkout: null }),
      placedAgo(16, { amountMinor: 0 }),
      placedAgo(42, { customerEmail: 'later@example.com' }),
    ],
    environment,
  )
  const { app, ann, url, settings, smtp, readReminders, getMails } = service
  await waitFor(async () => getMails().length >= 2)
  const expected = [
    { orderId: '1', state: 'sent' },
    { orderId: '8', state: 'sent' },
  ]
  await waitForEqual(t, readReminders, expected)

  const mail = getMails().find(({ recipients }) => recipients.includes('late@example.com'))
  t.equal(mail?.headers.get('subject'), 'Payment reminder for order CW-000001')
  const html = { status: 200, headers: new Headers(), text: mail?.html ?? '' }
  for (const text of [mail?.text, toText(html)]) {
    t.match(text, /Your payment of €40\.09 was due on \d+ \w+ \d{4}, and we have not received it/)
    t.match(text, /If you have paid in the last few days, thank you/)
    t.match(text, /IBAN: PT50 0002 0123 1234 5678 9015 4\s+Due date: .*\s+Payment reference: CW-0/)
    t.notMatch(text, /Ann Example/, 'nothing that the guest has typed')
  }
  const [, path = ''] = /http\S+?(\/o\/[\w-]{22})/.exec(mail?.text ?? '') ?? []
  t.match(
    toText(await createGuest(url).get(path)),
    /This payment was due on \d+ \w+ \d{4} , and we have not received it yet\. If you have paid/,
  )
  t.match(toText(await ann.get('/admin/orders/1')), /Payment reminder late@example\.com/)
  t.match(toText(await ann.get('/admin/settings/email')), /Payment reminder/)

  // Other processes, and the next start
  const remind = createReminders(app, 0)
  await Promise.all([remind(), remind(), remind()])
  await app.close()
  const next = await startApp(t, settings)
  await createReminders(next.app, 0)()
  await sleep(700)
  t.same(
    await next.app.database.query("SELECT state FROM outbox WHERE type = 'payment_reminder'"),
    [{ state: 'sent' }, { state: 'sent' }],
  )
  t.equal(smtp.mails.length, 2, 'once')
}

t.test('a guest is reminded once after the due date, with SQLite', (t) => testReminders(t, {}))

t.test('a guest is reminded once after the due date, with PostgreSQL', async (t) => {
  const server = await startPostgres(t)
  await testReminders(t, { DATABASE_URL: await server.createDatabase() })
})

t.test('a reminder is dropped if the order is paid, cancelled or erased before', async (t) => {
  const { app, ann, readReminders, smtp } = await startWithOrders(
    t,
    [
      placedAgo(16),
      placedAgo(16, { customerEmail: 'ben@example.com' }),
      placedAgo(16, { customerEmail: 'cleo@example.com' }),
    ],
    { MAIL_HOLD_SECONDS: '600' },
  )
  const toStates = async () => (await readReminders()).map(({ state }) => state)
  await waitForEqual(t, toStates, ['pending', 'pending', 'pending'])
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await ann.call('DELETE', '/api/admin/orders/2')
  await ann.call('POST', '/api/admin/erasures', { email: 'cleo@example.com' })
  await waitForEqual(t, () => app.database.query('SELECT id FROM order_events'), [])
  await skipPauses(app)
  await waitForEqual(t, toStates, ['cancelled', 'cancelled', 'cancelled'])
  await createReminders(app, 0)()
  t.same(await toStates(), ['cancelled', 'cancelled', 'cancelled'])
  t.notOk(smtp.mails.some(({ headers }) => headers.get('subject')?.includes('reminder')))

  // It is true again once the cancellation is undone.
  await ann.call('PATCH', '/api/admin/orders/2', { status: 'pending' })
  await waitFor(async () => {
    await skipPauses(app)
    return smtp.mails.some(({ headers }) => headers.get('subject')?.includes('reminder'))
  })
})

t.test('without a mail server there are no reminders', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const { app } = await startApp(t, { DATA_DIR, CURRENCY: 'EUR', PRICE_PER_TONNE: '24.50' })
  await app.orders.create(placedAgo(16), 'guest')
  await app.close()
  const { app: next } = await startApp(t, { DATA_DIR })
  await sleep(500)
  t.same(await next.database.query('SELECT id FROM outbox'), [])
})
