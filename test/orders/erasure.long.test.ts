import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import t, { type Test } from 'tap'
import { verifyChain } from '../../src/audit/verify-chain.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { openReadOnly } from '../../src/database/open-database.js'
import { isRewriteDue, REQUIRE_REWRITE } from '../../src/database/rewrite-file.js'
import { toErasedChanges } from '../../src/orders/erase-order.js'
import { createAccount } from '../support/accounts.js'
import { temporaryFolder } from '../support/app.js'
import { autoFulfil, startProvider, waitForCertificate } from '../support/guest-orders.js'
import { createGuest, placeOrder, toText } from '../support/guest.js'
import { startMailService } from '../support/mail-service.js'
import { newOrder } from '../support/order-store.js'
import { signInClient, startTwoAdmins } from '../support/page-client.js'
import { readPdfText, SKIP_WITHOUT_POPPLER } from '../support/pdf.js'
import { startPostgres } from '../support/postgres.js'
import { runCommand } from '../support/run-command.js'
import { openFileStore } from '../support/stores.js'
import { waitFor } from '../support/wait-for.js'
import { startReceiver } from '../support/webhook-receiver.js'

const CUSTOMER = {
  name: 'Xanthippe Quillfeather',
  email: 'Quillfeather@customers.example',
  company: 'Quillfeather & Daughters',
  vatId: 'QF123456789',
  beneficiary: 'The Quillfeathers',
  isPublic: 'yes',
}
const WRITER = join(import.meta.dirname, '../support/store-writer.js')
const NEW_CUSTOMER = { customerName: 'Ben Brook', customerEmail: 'ben@example.com' }
/** What identifies the customer, in any case. */
const TRACES = /quillfeather|customers\.example|QF123456789/gi
/** Where a text has traces of the customer, with what surrounds them. */
const findTraces = (text: string): string[] =>
  [...text.matchAll(TRACES)].map(({ index }) => text.slice(Math.max(index - 60, 0), index + 60))

/** Everything that a database holds, as one text. */
type ReadAll = () => Promise<string>

const server = await startPostgres(t)
const engines: Record<
  string,
  (t: Test) => Promise<{ environment: NodeJS.ProcessEnv; readAll: ReadAll }>
> = {
  async SQLite(t) {
    const folder = temporaryFolder(t)
    return {
      environment: { DATA_DIR: folder },
      // While the service runs: with the write-ahead log.
      readAll: async () => readFiles(folder),
    }
  },
  async PostgreSQL() {
    const url = await server.createDatabase()
    async function readAll(): Promise<string> {
      const client = new pg.Client(url)
      await client.connect()
      const { rows } = await client.query<{ name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
      )
      const texts = []
      for (const { name } of rows) {
        const table = await client.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`)
        texts.push(...table.rows.map(({ text }) => text))
      }
      await client.end()
      return texts.join('\n')
    }
    return { environment: { DATABASE_URL: url }, readAll }
  },
}

t.test('the reason of a refused placement kept the name of an erased customer', async (t) => {
  const attempt = { state: 'refused', reference: 'a', reason: 'onBehalfOfName Ann is unknown' }
  t.strictSame(toErasedChanges([{ field: 'placement', from: null, to: attempt }]), [
    { field: 'placement', from: null, to: { ...attempt, reason: 'Erased' } },
  ])
})

for (const [engine, create] of Object.entries(engines)) {
  t.test(`nothing of a customer is left in ${engine}`, async (t) => {
    const { environment, readAll } = await create(t)
    const provider = await startProvider(t)
    const service = await startMailService(t, {
      ...environment,
      ...autoFulfil(provider),
      WEBHOOK_ALLOW_LOOPBACK: 'true',
    })
    const { ann, app, url } = service
    const receiver = await startReceiver(t)
    // Responses are stored with the attempts.
    receiver.respond = (_request, response) =>
      response.end(receiver.received().at(-1)?.event.data.customerName)
    await ann.call('POST', '/api/admin/webhooks', {
      url: `${receiver.url}/hook`,
      events: ['order.created', 'order.updated', 'order.fulfilled'],
    })
    const path = await service.order(CUSTOMER)
    await service.order({ email: 'other@example.com' })
    const { name, email, isPublic } = CUSTOMER
    const formerPath = await service.order({ name, email, isPublic })
    await ann.call('PATCH', '/api/admin/orders/1', {
      customerName: 'X. Quillfeather',
      notes: 'Quillfeather asked for a call',
    })
    for (const q of [CUSTOMER.email, 'other']) {
      await ann.post('/admin/orders/views', { name: q.slice(0, 5), list: `/admin/orders?q=${q}` })
    }
    // The emails about payment and certificate cannot be sent, and stay in the queue.
    await service.waitForMails(3)
    await service.smtp.stop()
    await service.setStatus('paid')
    const guest = createGuest(url)
    const certificate = await waitForCertificate(guest, path)
    t.match(toText(await guest.get(certificate)), CUSTOMER.beneficiary)
    await service.setStatus('paid', '3')
    const formerCertificate = await waitForCertificate(guest, formerPath)
    t.match(toText(await guest.get(formerCertificate)), CUSTOMER.name)
    await ann.call('PATCH', '/api/admin/orders/3', NEW_CUSTOMER)
    await waitFor(async () => (await service.getStates()).includes('pending'))
    t.ok(findTraces(await readAll()).length > 10, 'they were there before')

    const erased = await ann.call('POST', '/api/admin/erasures', { email: CUSTOMER.email })
    t.strictSame(erased, { orders: 2, remaining: 0 })
    const getLatest = (id: string) =>
      receiver.received().findLast(({ event }) => event.data.id === id)?.event.data
    await waitFor(async () => getLatest('1').customerName === 'Erased')
    const { version } = await ann.call('GET', '/api/admin/orders/3')
    await waitFor(async () => getLatest('3').version === version)
    t.match(getLatest('3'), NEW_CUSTOMER, 'the current customer is kept')
    t.match(await ann.call('GET', '/api/admin/orders/3'), NEW_CUSTOMER)
    t.match(toText(await ann.get('/admin/orders/3')), /Personal data : erased .*Email : erased/)
    const again = await ann.call('POST', '/api/admin/erasures', { email: CUSTOMER.email })
    t.strictSame(again, { orders: 0, remaining: 0 })
    const list = toText(await ann.get('/admin/orders'))
    t.match(list, 'other')

    const all = await readAll()
    t.strictSame(findTraces(all), [])
    t.match(all, 'other@example.com', 'other customers are kept')
    t.notOk((await service.getStates()).includes('pending'), 'emails are cancelled')
    const details = await app.database.query(
      `SELECT DISTINCT detail FROM outbox_attempts JOIN outbox ON id = message_id
       WHERE queue = 'fulfilment'`,
    )
    t.strictSame(details, [{ detail: 'Erased' }], 'what the provider said may contain a name')

    const page = toText(await guest.get(certificate))
    t.match(page, 'have been retired for the holder of this certificate')
    for (const text of [
      page,
      toText(await guest.get(path)),
      toText(await guest.get(formerPath)),
      toText(await guest.get(formerCertificate)),
      (await ann.get('/admin/orders/1')).text,
      (await ann.get('/admin/orders/3')).text,
      (await ann.get('/admin/orders')).text,
      (await ann.get('/admin/settings/email')).text,
      (await ann.get('/admin/settings/audit-log')).text,
    ]) {
      t.strictSame(findTraces(text), [])
    }
    const { items } = await ann.call('GET', '/api/admin/audit-log?action=personal_data.erased')
    t.match(items, [{ actor: 'admin@example.com', details: { orders: 2 } }])
    await app.close()
    t.strictSame(findTraces(await readAll()), [], 'after the service stopped')
  })
}

t.test('a response to a message that is being sent during an erasure is not stored', async (t) => {
  const { ann, app } = await startTwoAdmins(t, { WEBHOOK_ALLOW_LOOPBACK: 'true' })
  const receiver = await startReceiver(t)
  let release = (): void => undefined
  const erased = new Promise<void>((resolve) => (release = resolve))
  receiver.respond = (_request, response) =>
    void erased.then(() => response.end(`Thank you, ${CUSTOMER.name}`))
  const events = ['order.created']
  await ann.call('POST', '/api/admin/webhooks', { url: `${receiver.url}/hook`, events })
  const { name: customerName, email: customerEmail } = CUSTOMER
  await ann.call('POST', '/api/admin/orders', newOrder({ customerName, customerEmail }))
  await waitFor(async () => receiver.received().length === 1)
  await ann.call('POST', '/api/admin/erasures', { email: CUSTOMER.email })
  release()
  const [attempt] = await waitFor(async () => {
    const attempts = await app.database.query<{ detail: string }>('SELECT * FROM outbox_attempts')
    return attempts.length > 0 && attempts
  })
  t.equal(attempt?.detail, 'Erased')
})

t.test('a PDF made before is not served after', SKIP_WITHOUT_POPPLER, async (t) => {
  const provider = await startProvider(t)
  const service = await startMailService(t, autoFulfil(provider))
  const path = await service.order(CUSTOMER)
  await service.setStatus('paid')
  const guest = createGuest(service.url)
  await waitForCertificate(guest, path)
  const readPdf = async () => {
    const response = await fetch(`${service.url}${path}/certificate.pdf`)
    return readPdfText(t, new Uint8Array(await response.arrayBuffer()))
  }
  t.match(await readPdf(), CUSTOMER.beneficiary)
  await service.ann.call('POST', '/api/admin/erasures', { email: CUSTOMER.email })
  t.strictSame(findTraces(await readPdf()), [])
})

t.test('owners erase personal data on a page, and see what it concerns before', async (t) => {
  const service = await startMailService(t)
  const { ann } = service
  await service.order(CUSTOMER)
  await service.order(CUSTOMER)
  t.match((await ann.get('/admin/orders/1')).text, 'href="/admin/settings/personal-data?order=1"')
  const form = await ann.get('/admin/settings/personal-data?order=1')
  t.match(form.text, `value="${CUSTOMER.email}"`)
  const page = '/admin/settings/personal-data'
  for (const [email, message] of [
    ['', 'enter an email address'],
    ['ann', 'must be an email address'],
    ['nobody@example.com', 'no order has this email address'],
  ] as const) {
    const response = await ann.post(page, { email })
    t.equal(response.status, 422)
    t.match(response.text, message)
  }
  const confirmation = await ann.post(page, { email: CUSTOMER.email })
  t.match(confirmation.text, /2 orders.*CW-000002.*CW-000001/s)
  t.equal((await ann.call('GET', '/api/admin/orders/1')).customerName, CUSTOMER.name)
  await ann.call('PATCH', '/api/admin/orders/1', { notes: 'call back' })
  const done = await ann.post(`${page}/erase`, { email: CUSTOMER.email })
  t.equal(done.status, 303)
  t.match((await ann.get(page)).text, 'The personal data was erased.')
  for (const id of [1, 2]) {
    t.equal((await ann.call('GET', `/api/admin/orders/${id}`)).customerName, 'Erased')
    t.match((await ann.get(`/admin/orders/${id}`)).text, 'Personal data erased')
  }
  t.match(toText(await ann.get('/admin/orders/1')), /Personal data : erased .*Notes : erased /)
})

t.test('a certificate that is being issued has no name after an erasure', async (t) => {
  const provider = await startProvider(t)
  const service = await startMailService(t, autoFulfil(provider))
  const { ann, app, url } = service
  const path = await service.order(CUSTOMER)
  await service.waitForMails(1)
  const isIssuing = async () => {
    const [row] = await app.database.query<{ claimed: number }>(
      "SELECT claimed_until AS claimed FROM outbox WHERE queue = 'certificate' AND state = 'pending'",
    )
    return row !== undefined && row.claimed > 0
  }
  provider.latencyMs = 300
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitFor(isIssuing)
  await ann.call('POST', '/api/admin/erasures', { email: CUSTOMER.email })
  provider.latencyMs = 0
  const certificate = await waitForCertificate(createGuest(url), path)
  t.match(toText(await createGuest(url).get(certificate)), 'for the holder of this certificate')
  const stored = [
    await app.database.query('SELECT * FROM certificates'),
    await app.database.query('SELECT * FROM outbox'),
  ]
  t.strictSame(findTraces(JSON.stringify(stored)), [])
})

/** Reads all files in a folder: the database and its write-ahead log. */
const readFiles = (folder: string): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n')

const CONTEXT = { by: 'ann@example.com', ifVersions: null }
const USED_ORDERS = 60

/**
 * Creates a database with orders of one customer, edited so often that SQLite has moved rows between
 * pages. Pages keep copies of moved rows.
 */
async function createUsedDatabase(dataDir: string) {
  const store = await openFileStore({ path: getDatabasePath(dataDir), timeZone: 'UTC' })
  const { name, email } = CUSTOMER
  for (let i = 1; i <= USED_ORDERS; i++) {
    const order = newOrder({ customerName: `${name} ${i}`, customerEmail: email })
    await store.create(order, CONTEXT.by)
  }
  for (let round = 1; round < 4; round++) {
    for (let id = USED_ORDERS; id > 0; id--) {
      const changes = { notes: `${name} likes boats `.repeat(round * (1 + (id % 7))) }
      await store.apply(String(id), { type: 'edit', changes }, CONTEXT)
    }
  }
  return store
}

/** Erases all orders of a used database, but not the copies in unused parts of its pages. */
async function eraseUsedOrders(t: Test, dataDir: string): Promise<void> {
  const store = await createUsedDatabase(dataDir)
  for (let id = 1; id <= USED_ORDERS; id++) {
    await store.apply(String(id), { type: 'erase' }, CONTEXT)
  }
  await store.close()
  t.not(findTraces(readFiles(dataDir)).length, 0, 'copies are left')
}

t.test('copies that SQLite left in unused parts of its pages are erased', async (t) => {
  const dataDir = temporaryFolder(t)
  await (await createUsedDatabase(dataDir)).close()
  const { ann, app } = await startTwoAdmins(t, { DATA_DIR: dataDir })
  const erased = await ann.call('POST', '/api/admin/erasures', { email: CUSTOMER.email })
  t.strictSame(erased, { orders: USED_ORDERS, remaining: 0 })
  t.strictSame(findTraces(readFiles(dataDir)), [])
  t.equal((await ann.call('GET', '/api/admin/orders?q=erased')).totalItems, USED_ORDERS)
  await app.close()
  t.strictSame(findTraces(readFiles(dataDir)), [])
})

t.test('copies are erased later while other processes read and write the file', async (t) => {
  const dataDir = temporaryFolder(t)
  await (await createUsedDatabase(dataDir)).close()
  const path = getDatabasePath(dataDir)
  const { ann } = await startTwoAdmins(t, { DATA_DIR: dataDir })
  const writer = spawn(process.execPath, [WRITER, path], { stdio: 'ignore' })
  t.teardown(() => writer.kill('SIGKILL'))
  // Reads from the state before the erasure, so its pages have to stay.
  const reader = openReadOnly(path)
  reader.exec('BEGIN')
  const readName = reader.prepare('SELECT customer_name FROM orders WHERE id = 1').pluck()
  t.equal(readName.get(), `${CUSTOMER.name} 1`)

  const page = '/admin/settings/personal-data'
  const erased = await ann.call('POST', '/api/admin/erasures', { email: CUSTOMER.email })
  t.strictSame(erased, { orders: USED_ORDERS, remaining: 0, rewriting: true })
  t.match((await ann.get(page)).text, 'are still being removed')
  t.equal(readName.get(), `${CUSTOMER.name} 1`, 'the reader is not disturbed')
  t.not(findTraces(readFiles(dataDir)).length, 0)

  reader.close()
  await waitFor(async () => !(await ann.get(page)).text.includes('are still being removed'))
  t.strictSame(findTraces(readFiles(dataDir)), [])
})

t.test('a rewrite that a crash interrupted continues at the next start', async (t) => {
  const dataDir = temporaryFolder(t)
  await eraseUsedOrders(t, dataDir)
  const path = getDatabasePath(dataDir)
  const db = new Database(path)
  db.exec(REQUIRE_REWRITE)
  db.close()
  await startTwoAdmins(t, { DATA_DIR: dataDir })
  await waitFor(async () => !isRewriteDue(path))
  t.strictSame(findTraces(readFiles(dataDir)), [])
})

t.test('db:vacuum removes copies of erased data from unused parts of the file', async (t) => {
  const dataDir = temporaryFolder(t)
  await eraseUsedOrders(t, dataDir)
  t.match(await runCommand('db-vacuum', [], { DATA_DIR: dataDir }), { code: 0 })
  t.strictSame(findTraces(readFiles(dataDir)), [])
  const missing = { DATA_DIR: temporaryFolder(t) }
  t.match(await runCommand('db-vacuum', [], missing), { code: 1, errors: /not found/ })
})

const SPELLINGS = [
  'Ann@bücher.example',
  'ann@XN--BCHER-KVA.example',
  'ann@bücher\u3002example',
  'ann@ｂücher.example',
  'ＡＮＮ@bücher.example',
]

for (const typed of [
  'ann@bücher.example',
  'ANN@xn--bcher-kva.example',
  'a\u00adnn@bücher.example',
]) {
  t.test(`an erasure for ${encodeURI(typed)} finds every spelling`, async (t) => {
    const { ann } = await startTwoAdmins(t)
    const create = (customerEmail: string) =>
      ann.call('POST', '/api/admin/orders', newOrder({ customerEmail }))
    for (const spelling of SPELLINGS) await create(spelling)
    await create('ann@buecher.example')
    await ann.call('PATCH', '/api/admin/orders/1', { customerEmail: 'ben@example.com' })
    const erased = await ann.call('POST', '/api/admin/erasures', { email: typed })
    t.strictSame(erased, { orders: SPELLINGS.length, remaining: 0 })
    t.match(await ann.call('GET', '/api/admin/orders/1'), { customerEmail: 'ben@example.com' })
    t.equal((await ann.call('GET', '/api/admin/orders/6')).customerEmail, 'ann@buecher.example')
    const { items } = await ann.call('GET', '/api/admin/orders?q=erased')
    t.equal(items.length, SPELLINGS.length - 1)
  })
}

t.test('orders with addresses that are not accepted any more are erased', async (t) => {
  const dataDir = temporaryFolder(t)
  const store = await openFileStore({ path: getDatabasePath(dataDir), timeZone: 'UTC' })
  for (const customerEmail of ['ann@gmail', 'a\u200bnn@gmail', 'ann@mail']) {
    await store.create(newOrder({ customerEmail }), CONTEXT.by)
  }
  await store.close()
  const { ann } = await startTwoAdmins(t, { DATA_DIR: dataDir })
  const erased = await ann.call('POST', '/api/admin/erasures', { email: 'ann@gmail' })
  t.strictSame(erased, { orders: 2, remaining: 0 })
})

for (const engine of Object.keys(engines)) {
  t.test(
    `saved views about a customer are erased in ${engine}, also from the audit log`,
    async (t) => {
      const { environment } = (await engines[engine]?.(t)) ?? {}
      const { ann, app } = await startMailService(t, environment)
      const placed = createGuest(app.publicBaseUrl())
      await placeOrder(placed, { ...CUSTOMER, email: 'Quill@bücher.example' })
      const kept: [name: string, query: string][] = [
        ['domain', 'q=%40b%C3%BCcher.example'],
        ['others', 'q=qu'],
        ['all', ''],
      ]
      const views: [name: string, query: string][] = [
        ['email', 'q=quill@xn--bcher-kva.example'],
        ['paid, by email', 'q=QUILL%40b%C3%BCcher.example&status=paid'],
        ['name', 'q=quillfeather+xanthippe'],
        ['surname', 'q=Quillfeather'],
        ['company', 'q=quillfeather+%26+daughters'],
        ['beneficiary', 'q=the+quillfeathers'],
        ['Xanthippe Quillfeather', 'status=paid'],
        ['VAT ID', 'q=QF123456789'],
        ['beginning', 'q=quillf'],
        ['before the @', 'q=quill%40'],
        ['comma', 'q=Quillfeather,+Xanthippe'],
        ['quotes', 'q=%22Quillfeather%22'],
        ['hyphen', 'q=xanthippe-quillfeather'],
        ['inside', 'q=illfeath'],
        ['initial', 'q=Xanthippe+Q'],
        ['part of the domain', 'q=quill%40b%C3%BCcher'],
        ['groups of digits', 'q=QF+123+456+789'],
        ['Quillfeather, Xanthippe (overdue)', 'status=paid'],
      ]
      const save = async (name: string, query: string) => {
        const list = `/admin/orders?${query}`
        await ann.post('/admin/orders/views', { name, list })
      }
      await save('Quillfeather & Daughters', 'status=pending')
      await ann.post('/admin/orders/views/remove', { name: 'Quillfeather & Daughters' })
      for (const [name, query] of [...views, ...kept]) await save(name, query)
      await ann.call('POST', '/api/admin/erasures', { email: 'quill@bücher.example' })
      const list = (await ann.get('/admin/orders')).text
      for (const [name] of views) t.notOk(list.includes(`>${name}<`), name)
      for (const [name] of kept) t.ok(list.includes(`>${name}<`), name)
      const log = await ann.call('GET', '/api/admin/audit-log')
      t.strictSame(findTraces(JSON.stringify(log)), [])
      const actions = log.items.map(({ action }: { action: string }) => action)
      t.ok(actions.includes('view.names_erased'))
      t.match(await verifyChain(app.database), { ok: true })

      // Only entries that the log itself says were erased may differ from their hash.
      await app.database.query(
        `UPDATE audit_log SET details = '{"name":"Erased"}' WHERE position =
         (SELECT max(position) FROM audit_log WHERE action = 'view.saved')`,
      )
      t.match(await verifyChain(app.database), { ok: false, reason: /does not match its hash/ })
    },
  )
}

t.test('only owners erase', async (t) => {
  const service = await startMailService(t)
  await service.order(CUSTOMER)
  const manager = await signInClient(service.url, await createAccount(service, 'manager'))
  const refused = await manager.call('POST', '/api/admin/erasures', { email: CUSTOMER.email })
  t.equal(refused.status, 403)
  t.notMatch((await manager.get('/admin/orders/1')).text, 'personal-data')
})
