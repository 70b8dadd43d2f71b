import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { startFakeProvider, type FakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { SECRET, temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { freePort } from '../support/free-port.js'
import { newOrder } from '../support/order-store.js'
import {
  HTMX_HEADERS,
  startTwoAdmins,
  type PageClient,
  type PageResponse,
} from '../support/page-client.js'
import { recordingUpstream } from '../support/recording-upstream.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { waitFor } from '../support/wait-for.js'

const ORDERS = '/api/admin/orders'
const TOKEN = 'stand-in-token'
/** For providers that respond, on a busy machine. */
const TIMEOUT_MS = 20_000
/** For providers that do not respond. */
const SHORT_TIMEOUT_MS = 2_000

async function startFakeProviderFor(t: Test, credit?: number): Promise<FakeProvider> {
  const fakeProvider = await startFakeProvider({
    token: TOKEN,
    ...(credit === undefined ? {} : { credit }),
  })
  t.teardown(() => fakeProvider.close())
  return fakeProvider
}

const pointedAt = (url: string, timeoutMs = TIMEOUT_MS): NodeJS.ProcessEnv => ({
  ORDERSOURCE_BASE_URL: url,
  ORDERSOURCE_API_TOKEN: TOKEN,
  ORDERSOURCE_TIMEOUT_MS: String(timeoutMs),
})

async function start(t: Test, { credit, timeoutMs }: { credit?: number; timeoutMs?: number } = {}) {
  const fakeProvider = await startFakeProviderFor(t, credit)
  const settings = pointedAt(fakeProvider.url, timeoutMs)
  return { fakeProvider, ...(await startTwoAdmins(t, settings)) }
}

const SILENT = { timeoutMs: SHORT_TIMEOUT_MS }

const createOrder = async (client: PageClient, given: object = {}): Promise<any> =>
  client.call('POST', ORDERS, { ...newOrder(), status: 'paid', ...given })

const getOrder = (client: PageClient, id: string): Promise<any> =>
  client.call('GET', `${ORDERS}/${id}`)

const getSteps = async (client: PageClient, id: string): Promise<string[]> => {
  const { items } = await client.call('GET', `${ORDERS}/${id}/history`)
  return items
    .flatMap(({ changes }: { changes: { field: string; to: any }[] }) => changes)
    .filter(({ field }: { field: string }) => field === 'placement')
    .map(({ to }: { to: any }) => to.state)
    .reverse()
}

const toVisibleText = ({ text }: PageResponse): string =>
  text
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')

/** The fields of a page's form with some action, as a browser would send them. */
function getFields({ text }: PageResponse, action: RegExp): Record<string, string> {
  const form = [...text.matchAll(/<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].find(
    ([, to = '']) => action.test(to),
  )
  if (form === undefined) throw new Error(`there is no form to ${action.source}`)
  const fields = [
    ...(form[2] ?? '').matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g),
  ]
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]))
}

const getFulfilmentPath = (id: string): string => `/admin/orders/${id}/fulfilment`

/** Chooses a portfolio and reads what is to be confirmed. */
async function confirmation(client: PageClient, id: string, portfolio = '2') {
  const page = await client.get(`${getFulfilmentPath(id)}?portfolio=${portfolio}`)
  return { page, fields: getFields(page, /\/fulfilment/) }
}

async function placeOrder(client: PageClient, id: string): Promise<PageResponse> {
  const { fields } = await confirmation(client, id)
  return client.post(getFulfilmentPath(id), fields)
}

// An attempt can be reset 18 s after it was sent: the tests from here to the last one take longer.
const lost = { ...(await start(t, SILENT)), sentAt: 0 }
const { id: lostId } = await createOrder(lost.ann)

t.test('does not reset a lost attempt that can still arrive', async (t) => {
  const { ann, fakeProvider } = lost
  const id = lostId
  const { fields } = await confirmation(ann, id)
  fakeProvider.fault = 'no_response_instead_of_order'
  t.equal((await ann.post(getFulfilmentPath(id), fields)).status, 504)
  fakeProvider.fault = null
  lost.sentAt = Date.now()

  const early = await ann.post(`${getFulfilmentPath(id)}/check`, {})
  t.match(
    toVisibleText(early),
    /Not found at the provider at .*\. The request may still be on its way: check again after \d\d:\d\d/,
  )
  t.notMatch(toVisibleText(early), /Allow another attempt/)
  t.equal((await ann.post(`${getFulfilmentPath(id)}/reset`, {})).status, 409, 'too early')
  t.strictSame(await getSteps(ann, id), ['sent', 'unanswered'])
  const clock = Date.now
  t.teardown(() => (Date.now = clock))
  Date.now = () => clock() + 25 * 60 * 1000
  t.equal(
    (await ann.post(`${getFulfilmentPath(id)}/reset`, {})).status,
    409,
    'nor by another clock',
  )
  Date.now = clock
})

t.test('places an order with plain forms: portfolio, quote, confirmation', async (t) => {
  const { ann, fakeProvider } = await start(t)
  const { id, orderNumber } = await createOrder(ann, { vesselName: 'Eendracht' })
  const before = await ann.get(`/admin/orders/${id}`)
  t.match(
    toVisibleText(before),
    /Paid\. Place the offset order\..*Place offset order… .*Not placed/,
  )
  t.notMatch(toVisibleText(await ann.get(`/admin/orders/${id}/cancel`)), /does not cancel/)

  const choice = await ann.get(getFulfilmentPath(id))
  t.equal(choice.status, 200)
  t.match(
    toVisibleText(choice),
    /Portfolio for 1\.6036 t CO₂e .*Harbour Mix US\$38\.33 .*Blue Carbon US\$61\.74/,
  )
  t.match(choice.text, new RegExp(`<form[^>]* action="${getFulfilmentPath(id)}" method="get"`))

  const { page, fields } = await confirmation(ann, id)
  t.match(
    toVisibleText(page),
    new RegExp(
      `Place the US\\$61\\.74 offset order for ${orderNumber}\\?.*Ann Example · Eendracht`,
    ),
  )
  t.match(toVisibleText(page), /CO₂e 1\.6036 t Portfolio Blue Carbon Per tonne US\$38\.50/)
  t.strictSame(fields, { version: '1', portfolio: '2', amountMinor: '6174', currency: 'USD' })
  t.equal(fakeProvider.ledger.orders.length, 0, 'nothing is ordered by looking at prices')
  t.equal((await getOrder(ann, id)).version, 1)

  const placed = await ann.post(getFulfilmentPath(id), fields)
  t.equal(placed.status, 303, 'so that a reload sends nothing again')
  const after = await ann.get(placed.headers.get('location') ?? '')
  t.match(toVisibleText(after), new RegExp(`The offset order for ${orderNumber} was placed`))
  t.match(toVisibleText(after), /Offset order : placed as 1, for US\$61\.74/)
  t.match(toVisibleText(after), /placing with Blue Carbon: 1\.6036 t for US\$61\.74/)

  const cancelling = await ann.get(`/admin/orders/${id}/cancel`)
  t.match(toVisibleText(cancelling), /This does not cancel the offset order 1 at the provider\./)

  const [entry, ...others] = fakeProvider.ledger.orders
  t.strictSame(others, [])
  t.match(entry, { tons: 1.6036, portfolioId: 2, amountCharged: 6174 })
  t.match(entry?.note ?? '', new RegExp(`^${orderNumber} [0-9a-f]{16}$`))
  t.match(await getOrder(ann, id), { orderSourceId: entry?.id, version: 3, status: 'processing' })
  t.strictSame(await getSteps(ann, id), ['sent', 'placed'])

  const again = await ann.post(getFulfilmentPath(id), fields)
  t.equal(again.status, 409)
  t.match(toVisibleText(again), /This order is already placed/)
  t.equal((await ann.get(getFulfilmentPath(id))).status, 303)
  t.equal(fakeProvider.ledger.orders.length, 1)
})

t.test('offers no fulfilment without a provider or for an unsuitable status', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await createOrder(ann)
  t.notMatch(toVisibleText(await ann.get(`/admin/orders/${id}`)), /Place offset order/)
  t.equal((await ann.get(getFulfilmentPath(id))).status, 404)
  const known = await createOrder(ann, { orderSourceId: 'off_1' })
  t.notMatch((await ann.get(`/admin/orders/${known.id}`)).text, /provider-record/)

  const { ann: eve, fakeProvider } = await start(t)
  for (const given of [
    { status: 'fulfilled' },
    { status: 'refunded' },
    { co2eKg: 0 },
    { orderSourceId: 'off_1' },
  ]) {
    const order = await createOrder(eve, given)
    t.notMatch(toVisibleText(await eve.get(`/admin/orders/${order.id}`)), /Place offset order/)
    const fields = { version: '1', portfolio: '1', amountMinor: '3833', currency: 'USD' }
    t.equal(
      (await eve.post(getFulfilmentPath(order.id), fields)).status,
      409,
      JSON.stringify(given),
    )
  }
  const unpaid = await createOrder(eve, { status: 'pending' })
  t.match(toVisibleText((await confirmation(eve, unpaid.id)).page), /has not paid yet/)
  t.equal(fakeProvider.ledger.orders.length, 0)
})

t.test('rejects anonymous and cross-site requests', async (t) => {
  const { url, ann, fakeProvider } = await start(t)
  const { id } = await createOrder(ann)
  const { fields } = await confirmation(ann, id)
  const forged = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  for (const path of ['', '/check', '/reset']) {
    t.equal((await ann.post(getFulfilmentPath(id) + path, fields, forged)).status, 403, path)
    const body = new URLSearchParams(fields)
    const response = await fetch(url + getFulfilmentPath(id) + path, { method: 'POST', body })
    t.equal(response.status, 401, path)
  }
  t.equal(fakeProvider.ledger.orders.length, 0)
})

t.test('asks for confirmation again if the price or the order has changed', async (t) => {
  const { ann, ben, fakeProvider } = await start(t)
  const { id } = await createOrder(ann)
  const { fields } = await confirmation(ann, id)
  const dearer = await ann.post(getFulfilmentPath(id), { ...fields, amountMinor: '6000' })
  t.equal(dearer.status, 409)
  t.match(
    toVisibleText(dearer),
    /the US\$61\.74 offset order.*The price has changed\. Nothing was ordered/,
  )
  t.strictSame(getFields(dearer, /fulfilment/), fields, 'the new price can be confirmed')
  for (const broken of [{ amountMinor: 'x' }, { currency: 'EUR' }, { currency: '' }]) {
    t.equal((await ann.post(getFulfilmentPath(id), { ...fields, ...broken })).status, 409)
  }
  t.equal((await ann.post(getFulfilmentPath(id), { ...fields, portfolio: 'x' })).status, 422)

  await ben.call('PATCH', `${ORDERS}/${id}`, { co2eKg: 900 })
  const stale = await ann.post(getFulfilmentPath(id), fields)
  t.equal(stale.status, 412)
  t.match(toVisibleText(stale), /has changed since you opened it.*1,603\.6 kg.*900\.0 kg/)
  t.equal(fakeProvider.ledger.orders.length, 0)
})

t.test('places one of many concurrent attempts, in two processes on one store', async (t) => {
  const fakeProvider = await startFakeProviderFor(t)
  const DATA_DIR = temporaryFolder(t)
  // They share a thread and a file here, so responses of the provider may be read late.
  const settings = { ...pointedAt(fakeProvider.url), DATA_DIR }
  const one = await startTwoAdmins(t, settings)
  const other = await startTwoAdmins(t, settings)
  for (let round = 1; round <= 5; round++) {
    const { id } = await createOrder(one.ann)
    const { fields } = await confirmation(one.ann, id)
    const responses = await Promise.all(
      [one.ann, one.ben, other.ann, other.ben, one.ann, other.ann].map((client, index) =>
        client.post(getFulfilmentPath(id), fields, index % 2 === 0 ? HTMX_HEADERS : {}),
      ),
    )
    const done = responses.filter(
      ({ status, text }) => status === 303 || /offset order for \S+ was placed/.test(text),
    )
    t.equal(done.length, 1, 'one request places it')
    t.equal(fakeProvider.ledger.orders.length, round)
    t.equal((await getOrder(other.ann, id)).orderSourceId, String(round))
    t.strictSame(await getSteps(other.ann, id), ['sent', 'placed'])
  }
})

t.test('a rejection is shown with the provider’s reason, and can be retried', async (t) => {
  const { ann, fakeProvider } = await start(t, { credit: 100 })
  const { id } = await createOrder(ann)
  const refused = await placeOrder(ann, id)
  t.equal(refused.status, 502)
  t.match(toVisibleText(refused), /The provider rejected the request Insufficient credits/)
  t.strictSame(await getSteps(ann, id), ['sent', 'refused'])
  const page = toVisibleText(await ann.get(`/admin/orders/${id}`))
  t.match(
    page,
    /Last attempt: Insufficient credits: top up your balance\. \d+ \w+ \d{4}, \d\d:\d\d , status 402, by admin@example\.com/,
  )
  t.match(page, /Offset order : not placed: Insufficient credits/)

  const small = await createOrder(ann, { co2eKg: 1 })
  const dry = await ann.get(`${getFulfilmentPath(small.id)}?portfolio=1`)
  t.match(
    toVisibleText(dry),
    /The provider rejected the request The total charge must be at least \$1\.00/,
  )
  t.equal((await getOrder(ann, small.id)).version, 1, 'a dry run leaves no trace')

  fakeProvider.ledger.credit = 100_000
  t.equal((await placeOrder(ann, id)).status, 303)
  t.equal(fakeProvider.ledger.orders.length, 1)
})

/** A proxy to the fake provider that disconnects after the quote. */
async function disconnectAfterQuote(t: Test, fakeProvider: FakeProvider) {
  const server = createServer((incoming, answer) => {
    let text = ''
    incoming.on('data', (part: Buffer) => (text += part.toString()))
    incoming.on('end', () => {
      const target = new URL(fakeProvider.url)
      const isPrice = text.includes('"dryRun":true') && network.isGoing
      const outgoing = httpRequest(
        {
          port: target.port,
          path: incoming.url,
          method: incoming.method,
          headers: incoming.headers,
        },
        (response) => {
          if (isPrice) server.close()
          answer.writeHead(response.statusCode ?? 500, response.headers)
          response.pipe(answer)
        },
      )
      outgoing.end(text)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const network = { url: `http://127.0.0.1:${port}/api`, isGoing: false }
  return network
}

t.test('a provider lost before the purchase has ordered nothing', async (t) => {
  const fakeProvider = await startFakeProviderFor(t)
  const network = await disconnectAfterQuote(t, fakeProvider)
  const { ann } = await startTwoAdmins(t, pointedAt(network.url))
  const { id } = await createOrder(ann)
  const { fields } = await confirmation(ann, id)
  network.isGoing = true
  const gone = await ann.post(getFulfilmentPath(id), fields)
  t.equal(gone.status, 502)
  t.match(toVisibleText(gone), /The provider cannot be reached Nothing was ordered/)
  t.strictSame(await getSteps(ann, id), ['sent', 'refused'])
  t.match(toVisibleText(gone), /not placed: the provider could not be reached/)
  t.match(toVisibleText(await ann.get(`/admin/orders/${id}`)), /Place offset order…/)

  const later = await ann.get(getFulfilmentPath(id))
  t.match(toVisibleText(later), /The provider cannot be reached Nothing was ordered.*Try again/)
  t.equal(fakeProvider.ledger.orders.length, 0)
})

for (const fault of ['connection_reset_after_order', 'no_response_after_order'] as const) {
  t.test(
    `${fault}: the status is unknown, and a check finds the order without sending it again`,
    async (t) => {
      const { ann, ben, fakeProvider } = await start(t, SILENT)
      const { id, orderNumber } = await createOrder(ann)
      const { fields } = await confirmation(ann, id)
      fakeProvider.fault = fault
      const unknown = await ann.post(getFulfilmentPath(id), fields)
      fakeProvider.fault = null
      t.equal(unknown.status, 504)
      t.match(toVisibleText(unknown), /Placement status unknown.*US\$61\.74 Portfolio Blue Carbon/)
      t.strictSame(await getSteps(ann, id), ['sent', 'unanswered'])
      t.equal(fakeProvider.ledger.orders.length, 1)

      const cancelling = toVisibleText(await ann.get(`/admin/orders/${id}/cancel`))
      t.match(
        cancelling,
        /This order was sent to the provider\. If the offset order was placed, this does not cancel it/,
      )
      for (const client of [ann, ben]) {
        const page = await client.get(`/admin/orders/${id}`)
        t.notMatch(toVisibleText(page), /Place offset order/)
        t.equal((await client.get(getFulfilmentPath(id))).status, 303, 'nothing is offered')
        const { version } = await getOrder(ann, id)
        const again = await client.post(getFulfilmentPath(id), {
          ...fields,
          version: String(version),
        })
        t.equal(again.status, 409)
      }
      t.equal(fakeProvider.ledger.orders.length, 1)

      const found = await ben.post(`${getFulfilmentPath(id)}/check`, {})
      t.equal(found.status, 303)
      t.match(
        toVisibleText(await ben.get(`/admin/orders/${id}`)),
        new RegExp(`The provider has the offset order for ${orderNumber}`),
      )
      t.match(await getOrder(ann, id), { orderSourceId: '1', version: 4 })
      t.equal(
        (await ben.post(`${getFulfilmentPath(id)}/check`, {})).status,
        200,
        'looking again is harmless',
      )
      t.equal((await ben.post(`${getFulfilmentPath(id)}/reset`, {})).status, 200)
      t.equal((await getOrder(ann, id)).version, 4)
    },
  )
}

t.test('an ID entered by hand settles an open attempt', async (t) => {
  const { ann, fakeProvider } = await start(t)
  const { id } = await createOrder(ann)
  const { fields } = await confirmation(ann, id)
  fakeProvider.fault = 'connection_reset_after_order'
  await ann.post(getFulfilmentPath(id), fields)
  fakeProvider.fault = null
  const { version } = await getOrder(ann, id)
  const saved = await ann.post(`/admin/orders/${id}/edit?group=provider`, {
    version: String(version),
    orderSourceId: '1',
  })
  t.equal(saved.status, 303)
  t.notMatch(toVisibleText(await ann.get(`/admin/orders/${id}`)), /Placement status unknown/)
  await ann.call('PATCH', `${ORDERS}/${id}`, { orderSourceId: null })
  t.match(
    toVisibleText(await ann.get(`/admin/orders/${id}`)),
    /Placement status unknown/,
    'without the ID, it is open again',
  )
})

t.test('does not place an order again that was placed without a known ID', async (t) => {
  const { ann, fakeProvider } = await start(t)
  const { id } = await createOrder(ann)
  await placeOrder(ann, id)
  const { version } = await getOrder(ann, id)
  const emptied = { version: String(version), orderSourceId: '' }
  t.equal((await ann.post(`/admin/orders/${id}/edit?group=provider`, emptied)).status, 303)
  const page = toVisibleText(await ann.get(`/admin/orders/${id}`))
  t.match(page, /Already placed, as 1 .*Allow another attempt… Enter the ID/)
  t.notMatch(page, /Place offset order/)
  const confirmed = { portfolio: '2', amountMinor: '6174', currency: 'USD' }
  const again = async () => {
    const now = await getOrder(ann, id)
    return ann.post(getFulfilmentPath(id), { ...confirmed, version: String(now.version) })
  }
  const refused = await again()
  t.equal(refused.status, 409)
  t.match(toVisibleText(refused), /This order is already placed, as 1/)
  t.equal((await ann.get(getFulfilmentPath(id))).status, 303)

  t.equal(
    (await ann.post(`${getFulfilmentPath(id)}/check`, {})).status,
    303,
    'the check finds it again',
  )
  t.equal((await getOrder(ann, id)).orderSourceId, '1')

  await ann.call('PATCH', `${ORDERS}/${id}`, { orderSourceId: null })
  t.equal((await again()).status, 409)
  t.equal(fakeProvider.ledger.orders.length, 1)
  const release = await ann.get(`${getFulfilmentPath(id)}/reset`)
  t.match(
    toVisibleText(release),
    /already placed as 1 \. If you place it again, you will pay twice/,
  )
  const fields = getFields(release, /reset/)
  t.strictSame(fields, { lostProviderId: '1' })
  t.equal((await ann.post(`${getFulfilmentPath(id)}/reset`, { lostProviderId: '2' })).status, 303)
  t.equal((await getOrder(ann, id)).orderSourceId, '1', 'another id releases nothing')
  await ann.call('PATCH', `${ORDERS}/${id}`, { orderSourceId: null })
  t.equal((await ann.post(`${getFulfilmentPath(id)}/reset`, fields)).status, 303)
  t.equal((await again()).status, 303, 'only a reset allows a second purchase')
  t.equal(fakeProvider.ledger.orders.length, 2)
})

t.test('a process killed after sending leaves an unresolved attempt', async (t) => {
  const fakeProvider = await startFakeProviderFor(t)
  const DATA_DIR = temporaryFolder(t)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const { PATH = '' } = process.env
  const server = distPath('server.js')
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, server], {
    cwd: DATA_DIR,
    stdio: 'ignore',
    env: {
      PATH,
      PORT: String(port),
      DATA_DIR,
      ADMIN_ACCOUNTS,
      SESSION_SECRET: SECRET,
      ...pointedAt(fakeProvider.url),
    },
  })
  t.teardown(() => child.kill('SIGKILL'))
  await waitFor(async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok === true)
  const bearer = { authorization: `Bearer ${await signIn(url)}` }
  const created = await fetch(url + ORDERS, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: JSON.stringify(newOrder({ status: 'paid' })),
  })
  const { id } = (await created.json()) as { id: string }

  fakeProvider.fault = 'no_response_after_order'
  const confirmed = { version: '1', portfolio: '2', amountMinor: '6174', currency: 'USD' }
  const lost = fetch(url + getFulfilmentPath(id), {
    method: 'POST',
    headers: bearer,
    body: new URLSearchParams(confirmed),
  }).then(
    () => 'answered',
    () => 'cut',
  )
  await waitFor(async () => fakeProvider.ledger.orders.length === 1)
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  t.equal(await lost, 'cut')
  await gone
  fakeProvider.fault = null

  const { ann } = await startTwoAdmins(t, { ...pointedAt(fakeProvider.url), DATA_DIR })
  const page = await ann.get(`/admin/orders/${id}`)
  t.match(toVisibleText(page), /Placing the order…/)
  t.notMatch(toVisibleText(page), /Place offset order/)
  for (const version of ['1', '2']) {
    t.equal((await ann.post(getFulfilmentPath(id), { ...confirmed, version })).status, 409)
  }
  t.strictSame(await getSteps(ann, id), ['sent'])
  t.equal((await ann.post(`${getFulfilmentPath(id)}/check`, {})).status, 303)
  t.equal((await getOrder(ann, id)).orderSourceId, '1')
  t.equal(fakeProvider.ledger.orders.length, 1)
})

t.test("shows an order next to the provider's record", async (t) => {
  const { ann, fakeProvider } = await start(t, SILENT)
  const { id } = await createOrder(ann)
  await placeOrder(ann, id)
  const record = (order: string, headers = {}) =>
    ann.get(`/admin/orders/${order}/provider-record`, headers)
  const page = await ann.get(`/admin/orders/${id}`)
  t.match(
    page.text,
    new RegExp(`hx-get="/admin/orders/${id}/provider-record[^"]*" hx-trigger="load"`),
  )
  t.match(page.text, new RegExp(`<noscript><p><a href="/admin/orders/${id}/provider-record`))

  const same = await record(id, HTMX_HEADERS)
  t.notMatch(same.text, /<html/)
  t.match(toVisibleText(same), /Matches this order.*CO₂e 1\.6036 t 1\.6036 t/)
  t.match(
    toVisibleText(same),
    /US\$61\.74 as confirmed US\$61\.74 Portfolio Blue Carbon Blue Carbon/,
  )
  t.match(toVisibleText(await record(id)), /CW-000001 at the provider.*Matches.*Back to the order/)

  await ann.call('PATCH', `${ORDERS}/${id}`, { co2eKg: 1500 })
  t.match(
    toVisibleText(await record(id)),
    /Differs from this order: CO₂e.*1\.5 t 1\.6036 t differs/,
  )

  const byHand = await createOrder(ann, { orderSourceId: '1' })
  const hand = toVisibleText(await record(byHand.id))
  t.match(hand, /Differs from this order: amount/)
  t.match(hand, /€40\.09 customer price US\$61\.74 differs/)
  const strange = await createOrder(ann, { orderSourceId: '../../portfolios' })
  t.match(
    toVisibleText(await record(strange.id)),
    /Not found at the provider.*has no order \.\.\/\.\.\/portfolios/,
  )

  for (const fault of [503, 'no_response', 'connection_reset', 403] as const) {
    fakeProvider.fault = fault
    const away = await record(id, HTMX_HEADERS)
    t.equal(away.status, 502, String(fault))
    t.match(toVisibleText(away), /Its record cannot be shown.*Try again/)
  }
  fakeProvider.fault = null
  const unplaced = await createOrder(ann)
  t.equal((await record(unplaced.id)).status, 404)
})

const PORTFOLIO = { id: 2, name: 'Reef', pricePerTonMinor: 2000, currency: 'EUR', projects: [] }
const QUOTE = { id: null, tons: 1.6036, amountCharged: 3208, currency: 'EUR' }
const CONFIRMED = { version: '1', portfolio: '2', amountMinor: '3208', currency: 'EUR' }

interface Asked {
  method: string
  url: string
  body: any
}

/** Starts a provider that returns the given values as JSON, or the given responses; returns its URL. */
async function scriptedSource(t: Test, answerTo: (request: Asked) => unknown): Promise<string> {
  const upstream = await recordingUpstream(t)
  upstream.respond = ({ method = '', url = '', headers }, response) => {
    const recorded = upstream.requests.find((one) => one.headers === headers)
    const text = Buffer.from(recorded?.body ?? '', 'latin1').toString()
    const asked = { method, url, body: text === '' ? null : JSON.parse(text) }
    void Promise.resolve(answerTo(asked)).then(async (body) => {
      const answer = body instanceof Response ? body : Response.json(body)
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(await answer.text())
    })
  }
  return upstream.url
}

/** Starts the service with a provider whose quotes are correct except for the given fields. */
async function startWithOddProvider(
  t: Test,
  odd: {
    quote?: object
    placed?: object
    record?: object
    list?: object | (() => Response)
    wait?: Promise<void>
  },
  more: NodeJS.ProcessEnv = {},
) {
  const sent: any[] = []
  const url = await scriptedSource(t, async ({ method, url, body }) => {
    if (url.endsWith('/portfolios')) return { portfolios: [PORTFOLIO] }
    if (method === 'GET') {
      if (!url.endsWith('/offset-orders')) return odd.record
      return typeof odd.list === 'function' ? odd.list() : (odd.list ?? { offsetOrders: [] })
    }
    if (body.dryRun === true) return { ...QUOTE, ...odd.quote }
    sent.push(body)
    await odd.wait
    return { ...QUOTE, id: `src-${sent.length}`, ...odd.placed }
  })
  const settings = { ...pointedAt(url), ORDERSOURCE_TIMEOUT_MS: '5000', ...more }
  return { sent, ...(await startTwoAdmins(t, settings)) }
}

t.test('rejects a quote for another mass or portfolio', async (t) => {
  for (const [quote, said] of [
    [{ tons: 50 }, /quote does not match the request Requested: 1\.6036 t.*50 t for €32\.08/],
    [{ currency: 'JPY' }, /quote does not match the request Requested: .* in EUR\..*\(JPY\)/],
    [{ id: 'real-1' }, /may have placed the order, as real-1.*Do not try again/],
    [{ id: ' ' }, /sent an invalid response Nothing was ordered/],
  ] as const) {
    const { ann, sent } = await startWithOddProvider(t, { quote })
    const { id } = await createOrder(ann)
    const page = toVisibleText(await ann.get(`${getFulfilmentPath(id)}?portfolio=2`))
    t.match(page, said)
    t.notMatch(page, /Place order for/)
    const answer = await ann.post(getFulfilmentPath(id), CONFIRMED)
    t.equal(answer.status, 502)
    t.match(toVisibleText(answer), said)
    t.same(sent, [])
    t.strictSame(await getSteps(ann, id), [])
  }
})

t.test('a quote without a currency has that of the portfolio', async (t) => {
  const { ann, sent } = await startWithOddProvider(t, {
    quote: { currency: null },
    placed: { currency: null },
  })
  const { id } = await createOrder(ann)
  const { page, fields } = await confirmation(ann, id)
  t.match(toVisibleText(page), /the €32\.08 offset order/)
  t.equal((await ann.post(getFulfilmentPath(id), fields)).status, 303)
  t.equal(sent.length, 1)
  const after = toVisibleText(await ann.get(`/admin/orders/${id}`))
  t.match(after, /placed as src-1, for €32\.08/)
  t.notMatch(after, /Differs from what was confirmed/)
})

t.test('records an order that differs from the confirmation as placed, and marks it', async (t) => {
  for (const [placed, names] of [
    [{ amountCharged: 999_999 }, 'amount'],
    [{ tons: 99 }, 'CO₂e'],
    [{ currency: 'XXX' }, 'currency'],
  ] as const) {
    const record = { ...QUOTE, id: 'src-1', portfolioId: 2 }
    const { ann } = await startWithOddProvider(t, { placed, record })
    const { id } = await createOrder(ann)
    t.equal((await ann.post(getFulfilmentPath(id), CONFIRMED)).status, 303)
    t.equal((await getOrder(ann, id)).orderSourceId, 'src-1')
    t.strictSame(await getSteps(ann, id), ['sent', 'placed'])
    const page = toVisibleText(await ann.get(`/admin/orders/${id}`))
    t.match(page, /was placed, but it differs from what you confirmed/)
    t.match(
      page,
      new RegExp(`Differs from what was confirmed: ${names} Confirmed: 1\\.6036 t for €32\\.08`),
    )
    t.match(page, /placed as src-1, .*, which differs from what was confirmed/)
    const beside = toVisibleText(await ann.get(`/admin/orders/${id}/provider-record`))
    if (names === 'CO₂e') continue
    t.match(
      beside,
      /Differs from this order: amount charged/,
      'although the list shows what was confirmed',
    )
  }
})

t.test('reports an ID entered during a purchase under another ID', async (t) => {
  let response = () => {}
  const wait = new Promise<void>((resolve) => (response = resolve))
  const { ann, sent } = await startWithOddProvider(t, { wait, record: { ...QUOTE, id: 'x' } })
  const { id } = await createOrder(ann)
  const placing = ann.post(getFulfilmentPath(id), CONFIRMED)
  await waitFor(async () => sent.length === 1)
  await ann.call('PATCH', `${ORDERS}/${id}`, { orderSourceId: 'HAND-1' })
  response()
  t.equal((await placing).status, 303)
  const page = toVisibleText(await ann.get(`/admin/orders/${id}`))
  t.match(page, /The offset order for CW-\d+ was placed\. /, 'what was confirmed')
  t.match(
    page,
    /Placed as src-1, which is not this order’s provider order ID The order has the ID HAND-1/,
  )
  t.equal((await getOrder(ann, id)).orderSourceId, 'HAND-1')
  const beside = toVisibleText(await ann.get(`/admin/orders/${id}/provider-record`))
  t.match(
    beside,
    /Differs from this order: ID.* ID HAND-1 x differs/,
    'and so is the record of another order',
  )
})

t.test('does not order from an unavailable portfolio', async (t) => {
  const { ann, sent } = await startWithOddProvider(t, {})
  const { id } = await createOrder(ann)
  for (const portfolio of ['999', '-1']) {
    t.match(
      toVisibleText(await ann.get(`${getFulfilmentPath(id)}?portfolio=${portfolio}`)),
      /no longer offers this portfolio/,
    )
    const response = await ann.post(getFulfilmentPath(id), { ...CONFIRMED, portfolio })
    t.equal(response.status, 422)
    t.match(toVisibleText(response), /no longer offers this portfolio Nothing was ordered/)
  }
  t.same(sent, [])
})

t.test(
  'an administrator who has checked can reset an attempt that the list cannot settle',
  async (t) => {
    const odd = { list: { offsetOrders: [], hasMore: true }, placed: { id: null } }
    const DATA_DIR = temporaryFolder(t)
    const before = await startWithOddProvider(t, odd, { DATA_DIR })
    const { id } = await createOrder(before.ann)
    t.equal((await before.ann.post(getFulfilmentPath(id), CONFIRMED)).status, 504)
    const early = await before.ann.post(`${getFulfilmentPath(id)}/check`, {})
    t.equal(early.status, 502)
    t.match(toVisibleText(early), /The provider returned an incomplete list/)
    t.match(toVisibleText(early), /The request may still be on its way: check again after/)
    t.notMatch(toVisibleText(early), /Allow another attempt/)
    const { changes } = (await before.ann.call('GET', `${ORDERS}/${id}/history`)).items[0]
    const lookedFor = changes[0].to.reference as string
    const release = `${getFulfilmentPath(id)}/reset`
    const tooEarly = await before.ann.post(release, { searchedReference: lookedFor })
    t.equal(tooEarly.status, 409)
    t.match(toVisibleText(tooEarly), /returned an incomplete list/)
    t.equal(before.sent.length, 1)
    await before.app.close()

    const clock = Date.now
    t.teardown(() => (Date.now = clock))
    Date.now = () => clock() + 60 * 60 * 1000
    const { ann } = await startWithOddProvider(t, odd, { DATA_DIR })
    const looked = await ann.post(`${getFulfilmentPath(id)}/check`, {})
    t.match(
      toVisibleText(looked),
      /more pages, which were not read.*allow another attempt\..*Allow another attempt…/,
    )
    const page = await ann.get(`${release}?unlisted=1`)
    t.match(
      toVisibleText(page),
      /Search all orders at the provider yourself.*I have searched the provider’s orders/,
    )
    t.match(
      page.text,
      new RegExp(`name="searchedReference" value="${lookedFor}" form="reset-form" required`),
    )
    for (const other of [{}, { searchedReference: '' }, { searchedReference: 'on' }]) {
      t.equal((await ann.post(release, other)).status, 409, 'this one was not checked')
    }
    t.strictSame(await getSteps(ann, id), ['sent', 'unanswered'])
    t.equal((await ann.post(release, { searchedReference: lookedFor })).status, 303)
    t.strictSame(await getSteps(ann, id), ['sent', 'unanswered', 'released'])
    t.match(
      toVisibleText(await ann.get(`/admin/orders/${id}`)),
      new RegExp(
        `another attempt allowed \\(reference ${lookedFor}\\): an administrator searched for it at the provider`,
      ),
    )
  },
)

/** Creates orders with unresolved attempts; returns their IDs and references. */
async function createUnresolvedOrders(ann: PageClient, count: number) {
  const attempts: { id: string; lookedFor: string }[] = []
  while (attempts.length < count) {
    const { id } = await createOrder(ann)
    await ann.post(getFulfilmentPath(id), CONFIRMED)
    const { changes } = (await ann.call('GET', `${ORDERS}/${id}/history`)).items[0]
    attempts.push({ id, lookedFor: changes[0].to.reference })
  }
  return attempts
}

const INCONCLUSIVE: [name: string, list: () => Response, told: RegExp][] = [
  ['no JSON', () => new Response('<h1>Welcome</h1>'), /sent an invalid response/],
  ['another list', () => Response.json({ orders: [] }), /sent an invalid response/],
  ['half an answer', () => new Response('{"offsetOrders":['), /sent an invalid response/],
  ['a redirect', () => new Response('', { status: 302 }), /sent an invalid response/],
  ['401', () => new Response('', { status: 401 }), /rejected the request .* the API token/],
  [
    '403',
    () => Response.json({ message: 'Not you.' }, { status: 403 }),
    /rejected the request .*Not you\./,
  ],
  ['404', () => new Response('', { status: 404 }), /No reason was given \(status 404\)/],
]

t.test('an unreadable or rejected list only resets an attempt that was looked up', async (t) => {
  const odd: { placed: object; list?: () => Response } = { placed: { id: null } }
  const DATA_DIR = temporaryFolder(t)
  const before = await startWithOddProvider(t, odd, { DATA_DIR })
  const attempts = await createUnresolvedOrders(before.ann, INCONCLUSIVE.length)
  const cases = attempts.flatMap((attempt, index) => {
    const response = INCONCLUSIVE[index]
    return response ? [{ ...attempt, name: response[0], list: response[1], told: response[2] }] : []
  })
  const known = ['sent', 'unanswered']

  for (const { name, list, told, id, lookedFor } of cases) {
    odd.list = list
    const early = [
      await before.ann.post(`${getFulfilmentPath(id)}/check`, {}),
      await before.ann.post(`${getFulfilmentPath(id)}/reset`, { searchedReference: lookedFor }),
    ]
    for (const page of early) {
      t.equal(page.status, 502, name)
      t.match(toVisibleText(page), told, name)
      t.match(toVisibleText(page), /The request may still be on its way: check again after/, name)
      t.notMatch(
        toVisibleText(page),
        /Not found at the provider|Allow another attempt/,
        `${name} is not conclusive`,
      )
    }
    t.strictSame(await getSteps(before.ann, id), known, name)
  }
  await before.app.close()

  const clock = Date.now
  t.teardown(() => (Date.now = clock))
  Date.now = () => clock() + 60 * 60 * 1000
  const { ann } = await startWithOddProvider(t, odd, { DATA_DIR })
  for (const { name, list, told, id, lookedFor } of cases) {
    odd.list = list
    const release = `${getFulfilmentPath(id)}/reset`
    const looked = await ann.post(`${getFulfilmentPath(id)}/check`, {})
    t.equal(looked.status, 502, name)
    t.match(toVisibleText(looked), told, name)
    t.match(
      toVisibleText(looked),
      /If you find it, enter its ID; otherwise, allow another attempt\..*Allow another attempt…/,
      name,
    )
    t.notMatch(toVisibleText(looked), /Not found at the provider/, name)
    t.match(looked.text, /\/fulfilment\/reset\?[^"]*unlisted=1/, name)
    const page = await ann.get(`${release}?unlisted=1`)
    t.match(toVisibleText(page), new RegExp(`does not show whether reference ${lookedFor} exists`))
    const others = cases.filter((one) => one.id !== id).map((one) => one.lookedFor)
    for (const other of ['', 'on', ...others.slice(0, 1)]) {
      const kept = await ann.post(release, { searchedReference: other })
      t.equal(kept.status, 502, `${name}: nobody has looked for this one`)
      t.match(toVisibleText(kept), /status is still unknown/, name)
    }
    t.strictSame(await getSteps(ann, id), known, name)
    t.equal((await ann.post(release, { searchedReference: lookedFor })).status, 303, name)
    t.strictSame(await getSteps(ann, id), [...known, 'released'], name)
    t.match(toVisibleText(await ann.get(`/admin/orders/${id}`)), /Place offset order… .*Not placed/)
  }
})

t.test('resets nothing while the provider is unavailable', async (t) => {
  const odd: { placed: object; list?: () => Response } = { placed: { id: null } }
  const DATA_DIR = temporaryFolder(t)
  const before = await startWithOddProvider(t, odd, { DATA_DIR })
  const [attempt] = await createUnresolvedOrders(before.ann, 1)
  await before.app.close()
  if (attempt === undefined) return
  const { id, lookedFor } = attempt

  const clock = Date.now
  t.teardown(() => (Date.now = clock))
  Date.now = () => clock() + 60 * 60 * 1000
  const { ann } = await startWithOddProvider(t, odd, { DATA_DIR })
  for (const status of [500, 503]) {
    odd.list = () => new Response('<h1>Sorry</h1>', { status })
    const looked = await ann.post(`${getFulfilmentPath(id)}/check`, {})
    t.equal(looked.status, 502)
    t.match(
      toVisibleText(looked),
      /cannot be reached The placement status is still unknown\. Try again in a few minutes\. /,
    )
    t.notMatch(toVisibleText(looked), /Not found at the provider|Allow another attempt/)
    const kept = await ann.post(`${getFulfilmentPath(id)}/reset`, { searchedReference: lookedFor })
    t.equal(kept.status, 502, 'despite the confirmation of a check')
    t.match(toVisibleText(kept), /cannot be reached The placement status is still unknown/)
    t.strictSame(await getSteps(ann, id), ['sent', 'unanswered'])
  }
  odd.list = () => Response.json({ offsetOrders: [] })
  t.equal(
    (await ann.post(`${getFulfilmentPath(id)}/reset`, {})).status,
    303,
    'once the provider responds',
  )
})

t.test('a list without a known order is incomplete, also after a restart', async (t) => {
  const placed: { id: string | null } = { id: 'src-1' }
  const list: { offsetOrders: object[] } = { offsetOrders: [] }
  const DATA_DIR = temporaryFolder(t)
  const before = await startWithOddProvider(t, { placed, list }, { DATA_DIR })
  const bought = await createOrder(before.ann)
  t.equal((await before.ann.post(getFulfilmentPath(bought.id), CONFIRMED)).status, 303)
  const byHand = await createOrder(before.ann, { orderSourceId: 'hand-1' })
  placed.id = null
  const { id } = await createOrder(before.ann)
  t.equal((await before.ann.post(getFulfilmentPath(id), CONFIRMED)).status, 504)
  await before.app.close()

  const { ann } = await startWithOddProvider(t, { list }, { DATA_DIR })
  const look = async () => toVisibleText(await ann.post(`${getFulfilmentPath(id)}/check`, {}))
  const listed = (...ids: string[]) => {
    list.offsetOrders = ids.map((id) => ({ ...QUOTE, id }))
  }
  t.match(
    await look(),
    new RegExp(
      `incomplete list This order is not in it, nor are hand-1 \\(${byHand.orderNumber}\\) and src-1 \\(${bought.orderNumber}\\)\\.`,
    ),
  )
  listed('src-1')
  t.match(await look(), /nor is hand-1 \(CW-\d+\)\./)
  listed('hand-1')
  t.match(await look(), /nor is src-1/)
  await ann.call('PATCH', `${ORDERS}/${bought.id}`, { orderSourceId: 'something-else' })
  t.match(
    await look(),
    /nor are something-else \(CW-\d+\) and src-1/,
    'a placed order stays placed',
  )
  listed('hand-1', 'src-1', 'something-else')
  t.match(await look(), /Not found at the provider at .*\. The request may still be on its way/)

  await ann.call('PATCH', `${ORDERS}/${bought.id}`, { orderSourceId: null })
  listed('hand-1')
  t.match(await look(), /nor is src-1/)
  const released = await ann.post(`${getFulfilmentPath(bought.id)}/reset`, {
    lostProviderId: 'src-1',
  })
  t.equal(released.status, 303)
  t.match(await look(), /Not found at the provider/, 'a reset attempt may be missing')

  for (const name of ['a', 'b', 'c', 'd', 'e']) await createOrder(ann, { orderSourceId: name })
  t.match(await look(), /nor are d \(CW-\d+\), c \(CW-\d+\), b \(CW-\d+\) and more\./)
})

t.test('two orders with one provider ID link to each other', async (t) => {
  const { ann } = await startWithOddProvider(t, { record: { ...QUOTE, id: 'src-1' } })
  const bought = await createOrder(ann)
  const other = await createOrder(ann)
  t.equal((await ann.post(getFulfilmentPath(bought.id), CONFIRMED)).status, 303)
  t.notMatch(toVisibleText(await ann.get(`/admin/orders/${bought.id}`)), /the same id/)

  const edit = `/admin/orders/${other.id}/edit?group=provider`
  const saved = await ann.post(edit, { version: '1', orderSourceId: 'src-1' }, HTMX_HEADERS)
  t.equal(saved.status, 200)
  t.match(toVisibleText(saved), new RegExp(`${bought.orderNumber} has the same provider order ID`))
  const page = await ann.get(`/admin/orders/${bought.id}`)
  t.match(toVisibleText(page), new RegExp(`${other.orderNumber} has the same provider order ID`))
  t.match(page.text, new RegExp(`<a href="/admin/orders/${other.id}">${other.orderNumber}</a>`))

  const third = await createOrder(ann)
  t.equal((await ann.post(getFulfilmentPath(third.id), CONFIRMED)).status, 303)
  t.notMatch(toVisibleText(await ann.get(`/admin/orders/${third.id}`)), /the same id/, 'src-2')
  await ann.call('PATCH', `${ORDERS}/${third.id}`, { orderSourceId: 'src-1' })
  t.match(
    toVisibleText(await ann.get(`/admin/orders/${third.id}`)),
    new RegExp(`${bought.orderNumber} and ${other.orderNumber} have the same provider order ID`),
  )
})

t.test('reports a provider ID that is assigned twice', async (t) => {
  const { ann } = await startWithOddProvider(t, { placed: { id: 'src-1' } })
  const [first, second] = [await createOrder(ann), await createOrder(ann)]
  for (const { id } of [first, second]) {
    t.equal((await ann.post(getFulfilmentPath(id), CONFIRMED)).status, 303)
  }
  const page = toVisibleText(await ann.get(`/admin/orders/${second.id}`))
  t.match(page, /The offset order for CW-\d+ was placed\. /, 'what was confirmed')
  t.match(page, new RegExp(`${first.orderNumber} has the same provider order ID`))
})

t.test('marks a provider note that names another order, and truncates it', async (t) => {
  const odd = { record: {} }
  const { ann } = await startWithOddProvider(t, odd)
  const { id, orderNumber } = await createOrder(ann, { orderSourceId: 'x', currency: 'EUR' })
  const beside = async (note: string) => {
    odd.record = { id: 'x', tons: 1.6036, amountCharged: 4009, currency: 'EUR', note }
    return toVisibleText(await ann.get(`/admin/orders/${id}/provider-record`))
  }
  t.match(
    await beside('CW-009999 0123456789abcdef'),
    new RegExp(`Differs from this order: note .*names CW-009999 this order: ${orderNumber}`),
  )
  for (const note of [`${orderNumber} and CW-009999`, 'quay 3', 'CW-1', `x${orderNumber}`]) {
    t.match(await beside(note), /Matches this order/, note)
  }
  t.match(await beside('n'.repeat(3_000)), / n{199}… /)
  t.match(await beside('words '.repeat(300)), / (words ){32}words… /)
})

t.test('warns if a price is not tonnes times the price per tonne', async (t) => {
  const quote: { amountCharged?: number } = {}
  const { ann } = await startWithOddProvider(t, { quote })
  const { id } = await createOrder(ann)
  const price = async () => toVisibleText((await confirmation(ann, id)).page)
  for (const amountCharged of [3207, 3208, 3209]) {
    quote.amountCharged = amountCharged
    t.notMatch(await price(), /the price would be/, 'a rounded price')
  }
  for (const amountCharged of [0, 3200, 3216, 320_720]) {
    quote.amountCharged = amountCharged
    t.match(await price(), /At €20\.00 per tonne, the price would be €32\.08/)
  }
})

t.test('escapes text from the provider', async (t) => {
  const hostile = '<img src=x onerror=alert(1)> {{7*7}} <%= 1 %> "onload="x'
  const portfolio = { ...PORTFOLIO, name: hostile, description: hostile }
  const source = await scriptedSource(t, ({ method, url }) => {
    if (url.endsWith('/portfolios')) return { portfolios: [portfolio] }
    const order = { id: '1', tons: 1.6036, amountCharged: 100, currency: 'EUR', note: hostile }
    return method === 'POST' ? { ...order, id: null } : order
  })
  const { ann } = await startTwoAdmins(t, pointedAt(source))
  const { id } = await createOrder(ann)
  const known = await createOrder(ann, { orderSourceId: '1' })
  for (const path of [
    getFulfilmentPath(id),
    `${getFulfilmentPath(id)}?portfolio=2`,
    `/admin/orders/${known.id}/provider-record`,
  ]) {
    const page = await ann.get(path)
    t.equal(page.status, 200, path)
    t.ok(page.text.includes('&lt;img src=x onerror=alert(1)&gt; {{7*7}}'), path)
    t.notOk(page.text.includes('<img'), path)
  }
})

t.test('the page polls for progress during a purchase', async (t) => {
  const { ann, ben, fakeProvider } = await start(t, SILENT)
  const { id } = await createOrder(ann)
  const { fields } = await confirmation(ann, id)
  fakeProvider.fault = 'no_response_after_order'
  const placing = ann.post(getFulfilmentPath(id), fields)
  await waitFor(async () => fakeProvider.ledger.orders.length === 1)
  const progress = () => ben.get(`${getFulfilmentPath(id)}/progress`, HTMX_HEADERS)
  t.equal((await progress()).status, 204)
  t.match(
    (await ben.get(`/admin/orders/${id}`)).text,
    /hx-get="[^"]*progress[^"]*" hx-trigger="every 2s"/,
  )
  await placing
  const after = await progress()
  t.equal(after.status, 200)
  t.match(toVisibleText(after), /Placement status unknown/)
})

t.test('an unwritable store stops a purchase before it is sent', async (t) => {
  const { app, fakeProvider, ann } = await start(t)
  const { id } = await createOrder(ann)
  const { fields } = await confirmation(ann, id)
  const other = new Database(getDatabasePath(app.config.DATA_DIR))
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  t.equal((await ann.post(getFulfilmentPath(id), fields)).status, 503)
  other.exec('ROLLBACK')
  t.equal(fakeProvider.ledger.orders.length, 0)
  t.strictSame(await getSteps(ann, id), [])
})

t.test('resets a lost attempt on request, once it can no longer arrive', async (t) => {
  const { ann, fakeProvider, sentAt } = lost
  const id = lostId
  const resetAt = sentAt + 15_000 + 6 * SHORT_TIMEOUT_MS + 500
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, resetAt - Date.now())))
  t.notMatch(
    toVisibleText(await ann.get(`/admin/orders/${id}`)),
    /Allow another attempt/,
    'requires a check first',
  )
  const looked = await ann.post(`${getFulfilmentPath(id)}/check`, {})
  t.match(
    toVisibleText(looked),
    /Not found at the provider at .*\. Check again Allow another attempt…/,
  )

  fakeProvider.fault = 503
  const blind = await ann.post(`${getFulfilmentPath(id)}/reset`, {})
  t.equal(blind.status, 502)
  t.match(toVisibleText(blind), /cannot be reached The placement status is still unknown/)
  fakeProvider.fault = null
  t.match(
    toVisibleText(await ann.get(`${getFulfilmentPath(id)}/reset`)),
    /you will pay twice.*Allow another attempt/,
  )
  const clock = Date.now
  t.teardown(() => (Date.now = clock))
  Date.now = () => clock() - 25 * 60 * 1000
  t.equal(
    (await ann.post(`${getFulfilmentPath(id)}/reset`, {})).status,
    303,
    'even if the clock is set back',
  )
  Date.now = clock
  t.strictSame(await getSteps(ann, id), ['sent', 'unanswered', 'released'])
  t.ok(Date.now() - sentAt > 15_000)

  t.equal((await placeOrder(ann, id)).status, 303, 'can be placed again')
  t.equal(fakeProvider.ledger.orders.length, 1)
})
