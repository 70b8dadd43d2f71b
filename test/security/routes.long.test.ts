import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { startFakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { PORTFOLIOS } from '../../src/demo/fake-provider/portfolios.js'
import { createMailbox } from '../../src/demo/mailbox.js'
import { EVENT_QUEUE } from '../../src/orders/order-events/event-dispatcher.js'
import { enqueueMessage } from '../../src/outbox/messages.js'
import { deleteEndpoint, insertEndpoint } from '../../src/webhooks/endpoint-store.js'
import { buildTestMessage } from '../../src/webhooks/webhook-message.js'
import { ACCOUNT_ID, LINK_TOKENS, SESSION_ID } from '../accounts/valid-calls.js'
import { EVENT_ID } from '../orders/valid-calls.js'
import { apiContract, type ContractResponse } from '../support/api-contract.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { waitForCertificate } from '../support/guest-orders.js'
import { createGuest, placeOrder } from '../support/guest.js'
import {
  hostileRequest,
  listNameRequests,
  listTypeRequests,
  type HostileRequest,
} from '../support/hostile-requests.js'
import { fillStore, RETIREMENT } from '../support/order-store.js'
import { manyOrders } from '../support/portal.js'
import { upstreamEnvironment } from '../support/recording-upstream.js'
import { routeTable } from '../support/route-table.js'
import { ADMIN, ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { checkStore } from '../support/store-check.js'
import { validCalls } from '../support/valid-calls.js'
import { waitFor } from '../support/wait-for.js'
import { DELIVERY_ID, WEBHOOK_ID } from '../webhooks/valid-calls.js'

const LEAST_REQUESTS = 2_500
const RUNS = 35
const ORDERS = 2_000
/** Of routes that take long when all is well: a password to hash, a thread to start. */
const FEW_RUNS = 45
const LINK = /\/(?:invitation|password-reset)\//
const COSTLY = /login|confirm|orders\/export|\/(?:invitation|password-reset)/
/** Far more than anything here takes, also where others use the machine. */
const MAX_WAIT_MS = 20_000

const DATA_DIR = temporaryFolder(t)
await fillStore(getDatabasePath(DATA_DIR), 'Europe/Lisbon', manyOrders(ORDERS))
const fakeProvider = await startFakeProvider({ token: 'token-of-the-tests' })
t.teardown(() => fakeProvider.close())
const environment = {
  ADMIN_ACCOUNTS,
  DATA_DIR,
  TIME_ZONE: 'Europe/Lisbon',
  SECURITY_CONTACT: 'security@example.com',
  // What clients say of where they come from is read, too.
  TRUST_PROXY: 'true',
  LOG_LEVEL: 'error',
  ...Object.fromEntries(
    [
      'RATE_LIMIT_PER_MINUTE',
      'QR_RATE_LIMIT_PER_MINUTE',
      'ORDER_RATE_LIMIT_PER_MINUTE',
      'ORDER_LIMIT_PER_CLIENT',
      'ORDER_LIMIT_PER_EMAIL',
      'LOGIN_LIMIT_PER_CLIENT',
      'LOGIN_LIMIT_PER_ACCOUNT',
    ].map((name) => [name, '1000000']),
  ),
  ...upstreamEnvironment(fakeProvider.url, { ORDERSOURCE_API_TOKEN: fakeProvider.token }),
}
const mailDelivery = createMailbox().delivery
const { app, url, log } = await startApp(t, environment, { mailDelivery })
const contract = apiContract(app.swagger())

const token = await signIn(url)
const [session] =
  await app.database.query<Record<string, string | number>>('SELECT * FROM sessions')

/** Starts the session of the token and another one again, because a request may end them. */
async function restoreSessions(): Promise<void> {
  for (const row of [session, { ...session, id: SESSION_ID, token_hash: '' }]) {
    const values = Object.values(row ?? {})
    const parameters = values.map(() => '?').join(', ')
    await app.database.query(
      `INSERT INTO sessions VALUES (${parameters}) ON CONFLICT DO NOTHING`,
      values,
    )
  }
}

/**
 * Creates an invited person and one who resets a password again, as requests change them. Deletes
 * people whom requests have invited, because nobody can be invited twice.
 */
async function restoreAccounts(): Promise<void> {
  const invited = 'SELECT id FROM accounts WHERE created_by = ?'
  await app.database.query(`DELETE FROM account_links WHERE account_id IN (${invited})`, [
    ADMIN.email,
  ])
  await app.database.query('DELETE FROM accounts WHERE created_by = ?', [ADMIN.email])
  const expiresAt = Date.now() + 60 * 60 * 1000
  for (const [purpose, token] of Object.entries(LINK_TOKENS)) {
    const [id, passwordHash] =
      purpose === 'invitation' ? [ACCOUNT_ID, null] : ['account_2', 'no password']
    const hash = createHash('sha256').update(token).digest('base64url')
    await app.database.query('DELETE FROM account_links WHERE token_hash = ?', [hash])
    await app.database.query('DELETE FROM accounts WHERE id = ?', [id])
    await app.database.query(
      `INSERT INTO accounts (id, email, role, password_hash, created_by, created_at)
       VALUES (?, ?, 'viewer', ?, 'a test', 0)`,
      [id, `${id}@example.com`, passwordHash],
    )
    await app.database.query('INSERT INTO account_links VALUES (?, ?, ?, 0, ?)', [
      hash,
      id,
      purpose,
      expiresAt,
    ])
  }
}

async function scannedLink(): Promise<URL> {
  const { json } = await app.inject({
    method: 'POST',
    url: '/api/qr-code/generate',
    payload: {
      calculatorType: 'custom',
      calculatorData: { amount: 1, unit: 't' },
      vessel: { name: 'Eendracht' },
    },
  })
  return new URL(json<{ url: string }>().url)
}

for (const portfolio of PORTFOLIOS) fakeProvider.ledger.add({ tons: 1, note: null }, portfolio)

/** Creates an endpoint of webhooks again, as requests delete it. */
const restoreWebhook = () =>
  app.database.write(async (tx) => {
    await deleteEndpoint(tx, WEBHOOK_ID)
    const fields = { url: 'https://shop.invalid/', description: '', events: [] }
    await insertEndpoint(tx, { id: WEBHOOK_ID, createdAt: Date.now(), ...fields }, '')
    await enqueueMessage(tx, {
      ...buildTestMessage(WEBHOOK_ID, Date.now()),
      id: DELIVERY_ID,
    })
  })

/** Fulfils the order of a guest; returns the path of its certificate. */
async function issueCertificate(guestOrder: string): Promise<string> {
  const [link] = await app.database.query<{ order_id: string }>('SELECT order_id FROM order_links')
  await app.inject({
    method: 'PATCH',
    url: `/api/admin/orders/${link?.order_id ?? ''}`,
    headers: { authorization: `Bearer ${token}` },
    payload: { status: 'fulfilled', retirement: RETIREMENT },
  })
  return waitForCertificate(createGuest(url), guestOrder)
}

const guestOrder = await placeOrder(createGuest(url))
await enqueueMessage(app.database, {
  id: EVENT_ID,
  queue: EVENT_QUEUE,
  sequence: EVENT_ID,
  type: 'mail',
  orderId: '1',
  payload: { order: { id: '1', orderNumber: 'CW-000001', version: 1 } },
})
const mail = await waitFor(async () => {
  const [row] = await app.database.query<{ path: string }>(
    "SELECT '/admin/orders/' || order_id || '/mails/' || id AS path FROM outbox WHERE queue = 'mail'",
  )
  return row?.path
})

const calls = validCalls({
  guestOrder,
  certificate: await issueCertificate(guestOrder),
  mail,
  offsetOrder: '1',
  apiKey: (
    await app.apiKeys.create(
      { name: 'Web shop', scopes: ['orders:read'] },
      { actor: ADMIN.email, address: null },
    )
  ).id,
  link: await scannedLink(),
  asset: app.asset('site.css'),
  credentials: ADMIN,
})

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
t.teardown(() => agent.destroy())
let sent = 0

function decoded(body: Buffer, coding: string | undefined): Buffer {
  if (body.length === 0) return body
  return coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body
}

function send({ method, address, headers, body }: HostileRequest): Promise<ContractResponse> {
  sent++
  const content = body === null ? null : Buffer.from(body, 'latin1')
  const length = content === null ? {} : { 'content-length': String(content.length) }
  const options = { method, path: address, headers: { ...length, ...headers }, agent }
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        clearTimeout(timer)
        const { statusCode: status = 0 } = response
        const { 'content-encoding': coding } = response.headers
        const whole = Buffer.concat(parts)
        // A range is one of the encoded bytes, and cannot be read by itself.
        const body = status === 206 ? whole : decoded(whole, coding)
        resolve({ status, headers: response.headers, body })
      })
    })
    const timer = setTimeout(() => request.destroy(new Error('no answer')), MAX_WAIT_MS)
    request.on('error', reject)
    request.end(content ?? undefined)
  })
}

const WHO = ['stranger', 'token', 'cookie'] as const
type Who = (typeof WHO)[number]

/** Adds credentials to a request that has none. */
function withCredentials(who: Who, request: HostileRequest): HostileRequest {
  const credentials: Record<Who, Record<string, string>> = {
    stranger: {},
    token: { authorization: `Bearer ${token}` },
    cookie: { cookie: `clearwake=${token}`, origin: url },
  }
  return { ...request, headers: { ...credentials[who], ...request.headers } }
}

/** What only we should know: libraries, statements, stacks; files and secrets. */
const INSIDES =
  /node_modules|\n\s+at \S|\.[cm]?[jt]s:\d|FST_|SQLITE_|sqlite|SELECT .* FROM|near "|UND_ERR|ECONN|ENOENT|EACCES|(?:Type|Range|Syntax|Reference)Error/
const SECRETS = [projectRoot, DATA_DIR, fakeProvider.token, ADMIN_ACCOUNTS.split('$').at(-1) ?? '']

function checkDiscretion(text: string, isOurs: boolean): void {
  if (isOurs) assert.doesNotMatch(text, INSIDES)
  for (const secret of SECRETS) assert.ok(!text.includes(secret), `tells ${secret}`)
}

const isApi = (address: string): boolean => /^\/api(?:\/|\?|$)/.test(address)

/** Throws if a response breaks a rule that holds for every request. */
function check(
  who: Who,
  { method, address, body }: HostileRequest,
  response: ContractResponse,
): void {
  const { status, headers } = response
  const text = response.body.toString('latin1')
  const isRelayed = /^\/api\/ordersource\b/.test(address)
  const isReference = /^\/docs\b/.test(address)
  // A provider that rejects a long body may close the connection early.
  const isCut = isRelayed && status === 502 && (body ?? '').length > 65_536
  // A page reports an unusable provider response, such as a missing price.
  const isTold = status === 502 && /^\/admin\/orders\/\d+\/fulfilment\b/.test(address)
  assert.ok((status >= 200 && status < 500) || isCut || isTold, `answered with ${status}`)
  // The API reference has code samples with stack-like lines.
  checkDiscretion(text, !isRelayed && !isReference)
  checkDiscretion(JSON.stringify(headers), true)
  assert.equal(headers['set-cookie']?.toString().includes('pwned') ?? false, false)
  // Node rejects `Expect` itself.
  if (status === 417) return
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
  const type = String(headers['content-type'] ?? '')
  if (isApi(address)) {
    assert.match(String(headers['cache-control']), /no-store/)
    // Relayed responses are documented by the provider.
    if (!isRelayed) contract.check(method, address, response)
  } else if (type.startsWith('text/html')) {
    assert.doesNotMatch(text, /<pwned/, 'markup stays text')
    assert.doesNotMatch(text, /\[object Object\]|\[native code\]/)
  }
  if (method === 'HEAD') assert.equal(text, '')
  if (
    who === 'stranger' &&
    /^\/(?:api\/)?admin/.test(address) &&
    !/login|forgot-password|invitation|password-reset/.test(address)
  ) {
    assert.ok(status === 303 || status >= 400, `${status} for a stranger`)
    if (status === 303) assert.match(String(headers.location), /^\/admin\/login\?returnTo=/)
  }
}

async function checkResponse(who: Who, request: HostileRequest): Promise<number> {
  await restoreSessions()
  const made = withCredentials(who, request)
  // A kept-alive connection may be closed while it is being reused.
  const response = await send(made).catch(() => send(made))
  check(who, made, response)
  return response.status
}

t.test('every route has a valid call', async (t) => {
  const routes = routeTable(app).map(({ method, path }) => `${method} ${path}`)
  t.strictSame([...calls.keys()].toSorted(), [...new Set(routes)].toSorted())
})

t.test('rejects values that only look like numbers or trips', async (t) => {
  const trip = { fuelType: 'mgo', distance: 1, distanceUnit: 'nmi', speedKn: 10 }
  const idle = { consumption: 60, consumptionUnit: 'l/h' }
  const unprintable = { toString: 1, valueOf: 1 }
  for (const wrong of [
    { distance: unprintable },
    { distanceUnit: unprintable },
    { speedKn: '10', referenceSpeedKn: 99 },
    { speedKn: unprintable },
    { consumption: unprintable },
    { consumptionUnit: unprintable },
    { referenceSpeedKn: unprintable },
    { generatorHours: unprintable },
  ]) {
    const { status } = await send({
      method: 'POST',
      address: '/api/calculators/distance/estimate',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...trip, ...idle, ...wrong }),
    })
    t.equal(status, 422, JSON.stringify(wrong))
  }
  for (const query of ['pageSize=1e400', 'page=1e400', 'page=-1e400', 'pageSize=1e999&page=2']) {
    const sendRequest = async (path: string) =>
      send(
        withCredentials('token', {
          method: 'GET',
          address: `${path}?${query}`,
          headers: {},
          body: null,
        }),
      )
    t.equal((await sendRequest('/api/admin/orders')).status, 422, query)
    const page = await sendRequest('/admin/orders')
    t.equal(page.status, 200, `${query} is left out of a page`)
  }
})

t.test('ignores an invalid language', async (t) => {
  for (const tag of ['en-GB-oed', 'de-DE-DE-DE', 'fr-a', 'xx-12', 'en-x', 'i-klingon']) {
    const headers = { 'accept-language': tag }
    for (const address of ['/admin?range=7d', '/admin/orders', '/admin/orders/1']) {
      const request = withCredentials('token', { method: 'GET', address, headers, body: null })
      const { status, body } = await send(request)
      t.equal(status, 200, `${address} in ${tag}`)
      t.notMatch(body.toString(), /went wrong/, `${address} in ${tag}`)
    }
  }
})

t.test('a long URL does not make headers that proxies reject', async (t) => {
  const { status, headers } = await send({
    method: 'GET',
    address: `/admin/orders?q=${'x'.repeat(20_000)}`,
    headers: {},
    body: null,
  })
  t.equal(status, 303)
  t.equal(headers.location, '/admin/login?returnTo=%2Fadmin')
})

t.test('rejected proxy paths have the usual response headers', async (t) => {
  const { status, headers } = await send({
    method: 'GET',
    address: '/api/ordersource/offset-orders',
    headers: {},
    body: null,
  })
  t.equal(status, 401)
  t.match(headers['content-security-policy'], /default-src 'none'; frame-ancestors 'none'/)
})

t.test('no route fails on valid JSON that is not an object', async (t) => {
  const headers = { 'content-type': 'application/json' }
  for (const [route, [valid]] of calls) {
    if (valid === undefined || valid.body === null) continue
    const { method, path } = valid
    // This order does not exist, so nothing changes.
    const address = path.replace('{order}', '999999')
    for (const body of ['null', '[]', '[null]', '"x"', '""', '7', 'true']) {
      await t.resolves(
        checkResponse('cookie', { method, address, headers, body }),
        `${route} ${body}`,
      )
    }
  }
})

/** Makes what requests delete, revoke or use up available to the requests to the next route. */
async function restoreFixtures(): Promise<void> {
  await restoreWebhook()
  await restoreAccounts()
  await app.database.query('UPDATE api_keys SET revoked_at = NULL')
}

for (const [what, listRequests] of [
  ['no route takes the name of a built-in property for one of its own', listNameRequests],
  ['no route uses a value before its type is known', listTypeRequests],
] as const) {
  t.test(what, async (t) => {
    for (const [route, valid] of calls) {
      await restoreFixtures()
      for (const request of valid.flatMap(listRequests)) {
        await checkResponse('token', request).catch((error: unknown) =>
          t.error(error, `${route} ${JSON.stringify(request)}`),
        )
      }
    }
  })
}

t.test('every response to hostile requests is documented', async (t) => {
  for (const [route, valid] of calls) {
    const numRuns = COSTLY.test(route) ? FEW_RUNS : RUNS
    await restoreFixtures()
    const request = hostileRequest(valid, ORDERS)
    let succeeded = 0
    const property = fc.asyncProperty(request, fc.constantFrom(...WHO), async (request, who) => {
      const status = await checkResponse(who, request)
      // A link works once, whoever uses it.
      if ((who !== 'stranger' || LINK.test(route)) && status < 400) succeeded++
    })
    await fc.assert(property, { numRuns })
    // Few requests to some routes are valid by chance.
    for (let more = 0; more < 10 && succeeded === 0; more++) await fc.assert(property, { numRuns })
    // Paths below the provider's own routes do not exist.
    t.ok(
      // Webhooks of Stripe and passkeys need a signature. The account is one of ADMIN_ACCOUNTS. The
      // projects have no pictures. The tests above can use up the limit of the images.
      succeeded > 0 ||
        /ordersource\/?\*?$|\/fulfilment$|\/provider-record$|\/stripe\/webhook$|\/account\/password$|\/(?:passkey|passkeys)$|\/:projectId\/image$|\/preview\.png$/.test(
          route,
        ),
      `${route} does its work, too`,
    )
  }
  t.ok(sent >= LEAST_REQUESTS, `${sent} requests`)
  t.strictSame(log, [], 'logs no errors')
  t.equal(Reflect.get({}, 'polluted'), undefined, 'does not pollute prototypes')
  t.doesNotThrow(() => checkStore(getDatabasePath(DATA_DIR)), 'the database is intact')
})
