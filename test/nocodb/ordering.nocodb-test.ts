import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/app.js'
import { freePort } from '../support/free-port.js'
import { autoFulfil, startProvider } from '../support/guest-orders.js'
import { createGuest, fillIn, findLink, readForm, toText } from '../support/guest.js'
import { MAIL_FROM } from '../support/mail-service.js'
import { readRows } from '../support/nocodb-service.js'
import { startNocoDb } from '../support/nocodb.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'
import { startSmtpServer } from '../support/smtp-server.js'
import { getSessionId, sendWebhooks, settle, startStripe } from '../support/stripe.js'
import { waitFor, waitForEqual, waitUntilReady } from '../support/wait-for.js'

/*
 * Orders of guests in NocoDB, with two processes that share a PostgreSQL database.
 */

const nocoDb = await startNocoDb(t)
const server = await startPostgres(t)

/** Much longer than between an event and the messages about it, s. */
const SYNC_INTERVAL = '5'

async function start(t: Test, environment: NodeJS.ProcessEnv = {}, folders: string[] = []) {
  const base = await nocoDb.createBase()
  const provider = await startProvider(t)
  const smtp = await startSmtpServer(t)
  const shared = {
    ...base.environment,
    DATABASE_URL: await server.createDatabase(),
    NOCODB_SYNC_INTERVAL: SYNC_INTERVAL,
    WEBHOOK_ALLOW_LOOPBACK: 'true',
    CURRENCY: 'EUR',
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    MAIL_FROM,
    ...autoFulfil(provider),
    ...environment,
  }
  const startProcess = async (folder: string = temporaryFolder(t)) => {
    const PORT = String(await freePort())
    const PUBLIC_BASE_URL = `http://127.0.0.1:${PORT}`
    return startTwoAdmins(t, { ...shared, DATA_DIR: folder, PORT, PUBLIC_BASE_URL })
  }
  const first = await startProcess(folders[0])
  const second = await startProcess(folders[1])
  await Promise.all([first, second].map(({ url }) => waitUntilReady(url)))
  return {
    base,
    provider,
    first,
    second,
    getStatuses: async (): Promise<string[]> =>
      (await readRows(nocoDb, base)).map(({ Status }) => Status),
    /** The subjects of the emails to a guest, in any order: several processes send them. */
    getSubjects: async (email: string): Promise<string[]> =>
      smtp.mails
        .filter(({ recipients }) => recipients.includes(email))
        .map(({ headers }) => headers.get('subject') ?? '')
        .sort(),
    countMessages: async (): Promise<Record<string, number>> => {
      const rows = await first.app.database.query<{ type: string; count: number }>(
        "SELECT type, count(*) AS count FROM outbox WHERE queue <> 'account-mail' GROUP BY type",
      )
      return Object.fromEntries(rows.map(({ type, count }) => [type, count]))
    },
  }
}

/** Orders; returns where the guest is sent. */
async function order(url: string, email: string): Promise<string> {
  const guest = createGuest(url)
  const form = fillIn(readForm(await guest.get('/offset?type=custom&amount=2&unit=t')), { email })
  const { status, headers } = await guest.post('/offset', form)
  if (status !== 303) throw new Error(`The order was not placed: ${status}`)
  return headers.get('location') ?? ''
}

const MAILS_ONCE_PAID = (number: string) => [
  `Payment received for order ${number}`,
  `Your certificate for order ${number}`,
]
const ALL_MAILS = (number: string) => [`Order ${number} received`, ...MAILS_ONCE_PAID(number)]

t.test('an order by invoice is placed, certified and emailed once', async (t) => {
  const { first, second, provider, getStatuses, getSubjects, countMessages } = await start(t)
  const webhook = { url: 'http://127.0.0.1:9/', events: ['order.created', 'order.paid'] }
  await first.ann.call('POST', '/api/admin/webhooks', webhook)
  const path = await order(first.url, 'ann@example.com')
  const [guest, other] = [createGuest(first.url), createGuest(second.url)]
  t.match(
    toText(await other.get(path)),
    /Waiting for your bank transfer/,
    'in the other process at once',
  )

  await second.ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitForEqual(t, getStatuses, ['fulfilled'])
  t.equal(provider.ledger.orders.length, 1)
  await waitForEqual(t, () => getSubjects('ann@example.com'), ALL_MAILS('CW-000001'))
  const certificate = await waitFor(
    async () => findLink(await guest.get(path), 'View the page') || null,
  )
  for (const client of [guest, other]) t.equal((await client.get(certificate)).status, 200)
  // Both processes see all changes, and process the events of them.
  await waitFor(async () => findLink(await other.get(path), 'View the page') || null)
  await settle()
  t.match(await countMessages(), {
    'order.created': 1,
    order_received: 1,
    payment_received: 1,
    certificate_ready: 1,
    // A webhook, and the placement.
    'order.paid': 2,
  })
  t.equal((await getSubjects('ann@example.com')).length, 3)
})

/** All values of NocoDB's SQLite database, as one text. */
function readTables(path: string): string {
  const db = new Database(path, { readonly: true })
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .pluck()
    .all()
    // NocoDB's own record of changes, which no API can change: see docs/nocodb.md.
    .filter((name) => !name.startsWith('nc_audit'))
  const rows = names.flatMap((name) => db.prepare(`SELECT * FROM "${name}"`).raw().all())
  db.close()
  return JSON.stringify(rows)
}

t.test('personal data is erased from NocoDB and from the mirror', async (t) => {
  const folders = [temporaryFolder(t), temporaryFolder(t)]
  const { base, first, second, getStatuses } = await start(t, {}, folders)
  const email = 'quillfeather@customers.example'
  await order(first.url, email)
  await first.ann.call('PATCH', '/api/admin/orders/1', { notes: 'call Quillfeather' })
  await first.ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitForEqual(t, getStatuses, ['fulfilled'])
  const changed = newOrder({ customerName: 'Quillfeather', customerEmail: email })
  const { id } = await first.ann.call('POST', '/api/admin/orders', changed)
  const customer = { customerName: 'Ben Brook', customerEmail: 'ben@example.com' }
  await first.ann.call('PATCH', `/api/admin/orders/${id}`, customer)
  const traces = /quillfeather|customers\.example/i
  const readNocoDb = () => readTables(join(nocoDb.folder, 'noco.db'))
  t.match(readNocoDb(), traces, 'was there before')

  const erased = await first.ann.call('POST', '/api/admin/erasures', { email })
  t.strictSame(erased, { orders: 2, remaining: 0 })
  t.match(await readRows(nocoDb, base), [{ CustomerName: 'Erased', Status: 'fulfilled' }])
  t.notMatch(readNocoDb(), traces)
  await waitFor(async () => {
    const { customerName } = await second.ann.call('GET', '/api/admin/orders/1')
    return customerName === 'Erased'
  })
  await waitFor(async () => {
    const { version } = await second.ann.call('GET', `/api/admin/orders/${id}`)
    return version === 3
  })
  t.match(await second.ann.call('GET', `/api/admin/orders/${id}`), customer)
  await settle()
  for (const { app } of [first, second]) await app.close()
  for (const folder of folders) {
    for (const name of readdirSync(folder)) {
      t.notMatch(readFileSync(join(folder, name), 'latin1'), traces, `${name} of a process`)
    }
  }
})

t.test('Stripe payments are settled in any process', async (t) => {
  const { stripe, environment } = await startStripe(t)
  const started = await start(t, { ...environment, STRIPE_CHECK_INTERVAL: '0.5' })
  const { first, second, provider, getStatuses, getSubjects } = started

  await t.test('a webhook that reaches the other process', async (t) => {
    sendWebhooks(stripe, second.url)
    stripe.ledger.pay(getSessionId(await order(first.url, 'ann@example.com')))
    await waitForEqual(t, getStatuses, ['fulfilled'])
    await waitForEqual(t, () => getSubjects('ann@example.com'), MAILS_ONCE_PAID('CW-000001'))
    t.ok(stripe.sender.events.length > 0)
  })

  await t.test('a webhook that is lost', async (t) => {
    stripe.sender.url = null
    stripe.ledger.pay(getSessionId(await order(second.url, 'ben@example.com')))
    await waitForEqual(t, getStatuses, ['fulfilled', 'fulfilled'])
    await waitForEqual(t, () => getSubjects('ben@example.com'), MAILS_ONCE_PAID('CW-000002'))
    t.equal(provider.ledger.orders.length, 2)
  })

  await t.test('a refund', async (t) => {
    await second.ann.post('/admin/orders/2/refund', {})
    await waitForEqual(t, getStatuses, ['fulfilled', 'refunded'])
    t.equal(stripe.ledger.refunds.length, 1)
    await waitForEqual(t, () => getSubjects('ben@example.com'), [
      'Order CW-000002 was refunded',
      ...MAILS_ONCE_PAID('CW-000002'),
    ])
    const { items } = await first.ann.call('GET', '/api/admin/orders/2/payments')
    t.match(items, [{ status: 'refunded', problem: null }])
  })
})
