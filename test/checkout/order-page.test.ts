import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { normalizeUrl } from '../../src/core/http/request-path.js'
import { postJson, temporaryFolder } from '../support/app.js'
import { waitForCertificate } from '../support/guest-orders.js'
import { createGuest, fillIn, findLink, placeOrder, readForm, toText } from '../support/guest.js'
import { RETIREMENT } from '../support/order-store.js'
import { startTwoAdmins, type PageResponse } from '../support/page-client.js'

const TRIP = '/offset?type=custom&amount=2&unit=t'
const PRICE = { CURRENCY: 'EUR', PRICE_PER_TONNE: '24.50' }

async function startWithOrder(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const dataDir = temporaryFolder(t)
  const service = await startTwoAdmins(t, { ...PRICE, DATA_DIR: dataDir, ...environment })
  const guest = createGuest(service.url)
  const path = await placeOrder(guest)
  const change = (body: object) => service.ann.call('PATCH', '/api/admin/orders/1', body)
  return { ...service, dataDir, guest, path, change }
}

t.test('the page follows the order', async (t) => {
  const { guest, path, change, ann } = await startWithOrder(t)
  const read = async () => toText(await guest.get(path))
  t.match(await read(), /Waiting for your bank transfer.*Ordered .* Paid Not yet Credits bought/)
  t.match(await read(), /You will receive an invoice/)
  await change({ status: 'paid', notes: 'a secret of the administrators' })
  t.match(
    await read(),
    /Thank you, Ann \. Your credits are being bought\..*Paid \d.* Credits bought In progress/,
  )
  t.notMatch(await read(), /secret of the administrators|How to pay|Cancel order/)
  await change({ status: 'processing' })
  t.match(await read(), /Your credits are being bought\. Retirement pending/)
  await change({ status: 'fulfilled' })
  t.match(
    await read(),
    /Your credits are being retired\. Retirement pending.*Credits bought \d.* Credits retired, certificate issued In progress/,
  )
  await change({ status: 'refunded' })
  t.match(await read(), /Your payment was refunded .*Paid \d.*Refunded \d/)

  const { guest: other, path: cancelled } = await startWithOrder(t)
  const confirmation = await other.get(`${cancelled}/cancel`)
  t.match(toText(confirmation), /Cancel order CW-000001 ?\?/)
  t.equal(findLink(confirmation, 'Keep order'), cancelled)
  t.equal((await other.post(`${cancelled}/cancel`, new URLSearchParams())).status, 303)
  t.match(
    toText(await other.get(cancelled)),
    /Your order is cancelled .*nothing to pay.*Cancelled \d.*Total €49\.00 Nothing to pay/,
  )
  t.equal((await other.get(`${cancelled}/cancel`)).status, 303)
  t.equal((await ann.call('GET', '/api/admin/orders/1')).status, 'refunded')
})

t.test('an order page never refreshed itself', async (t) => {
  const { guest, path, change } = await startWithOrder(t)
  const htmx = { 'hx-request': 'true', 'hx-request-type': 'partial' }
  const readRefresh = ({ text }: PageResponse) =>
    /id="refresh-(\d+)" data-seconds="(\d+)" hx-get="([^"]+)"/.exec(text)?.slice(1)

  const page = await guest.get(path)
  t.same(readRefresh(page), ['1', '3', `${path}?refresh=1`])
  t.equal(findLink(page, 'Check for updates'), path, 'without scripts')
  const later = await guest.get(`${path}?refresh=7`, htmx)
  t.same(readRefresh(later), ['8', '19', `${path}?refresh=8`], 'less often each time')
  t.notMatch(later.text, '<html')
  for (const refresh of ['1e9', '-1', 'x', '1&refresh=2']) {
    const { status, text } = await guest.get(`${path}?refresh=${refresh}`, htmx)
    t.equal(status, 200)
    t.ok(Number(/data-seconds="(\d+)"/.exec(text)?.[1]) <= 300)
  }
  await change({ status: 'paid' })
  t.ok(readRefresh(await guest.get(path)))
  await change({ status: 'refunded' })
  t.notOk(readRefresh(await guest.get(path)), 'a final order does not change')
})

t.test('the certificate comes first, then the progress and the receipt', async (t) => {
  const { guest, path, change } = await startWithOrder(t, { CONTACT: 'hello@harbour.example' })
  t.match(toText(await guest.get(path)), /Order summary .*Sold by Clearwake hello@harbour\.example/)
  await change({ status: 'fulfilled', retirement: RETIREMENT })
  const certificate = await waitForCertificate(guest, path)
  const page = await guest.get(path)
  t.match(
    toText(page),
    /Your certificate is ready, Ann \. Carbon credits for 2,000 kg of CO₂e have been retired for you\. .*Carbon credit retirement certificate Ann Example has funded.* 2,000 kg of CO₂e.*Download PDF Share.*Progress.*Receipt .*Payment received \d/,
  )
  t.equal(findLink(page, 'Download PDF'), `${path}/certificate.pdf`)
  t.match(page.text, `data-share="${certificate}"`)
  t.match(page.text, 'class="order-state done celebrated"', 'celebrates a new certificate')
  const missing = await guest.get(`${certificate}x`)
  t.match(missing.text, /We cannot find this certificate.*mailto:hello@harbour\.example/s)
})

t.test('an erased or unusual name is not used to greet', async (t) => {
  const { guest, path, change, ann } = await startWithOrder(t)
  await change({ status: 'paid', customerName: `${'A'.repeat(60)} ${'b'.repeat(50)}` })
  t.match(toText(await guest.get(path)), /Thank you\. Your credits are being bought\./)
  await change({ customerName: '<i>Maria</i> & Co' })
  t.match((await guest.get(path)).text, /&lt;i&gt;Maria/)
  t.match(toText(await guest.get(path)), /Thank you\. Your/)
  await change({ customerName: 'Maria Silva' })
  t.match(toText(await guest.get(path)), /Thank you, Maria \. Your/)
  await ann.call('POST', '/api/admin/erasures', { email: 'ann@example.com' })
  const erased = toText(await guest.get(path))
  t.match(erased, /Thank you\. Your .*Personal data Erased/)
  t.notMatch(erased, /Maria|ann@example\.com/)
})

t.test('a cancelled order could not be ordered again', async (t) => {
  const { url } = await startTwoAdmins(t, PRICE)
  const { body } = await postJson(`${url}/api/qr-code/generate`, {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 1234.5, unit: 'l', guests: 4 },
    vessel: { name: 'Argo', imoNumber: '9074729' },
  })
  const { search } = new URL(body.url)
  for (const [trip, expected, share] of [
    [`/offset${search}&forGuests=2`, /Argo : 1,234\.5 l/, { share: 'guests', partGuests: '2' }],
    [
      '/offset?type=custom&amount=2.345&unit=t&sharePercent=50',
      /2\.345 t/,
      { share: 'percent', otherPercent: '50' },
    ],
  ] as const) {
    const guest = createGuest(url)
    const form = fillIn(readForm(await guest.get(trip)))
    const path = (await guest.post('/offset', form)).headers.get('location') ?? ''
    t.equal(findLink(await guest.get(path), 'Order again'), '')
    await guest.post(`${path}/cancel`, new URLSearchParams())
    const again = await guest.get(findLink(await guest.get(path), 'Order again'))
    t.match(toText(again), expected)
    t.match(Object.fromEntries(readForm(again)), share)
  }
})

t.test('a guest cancels until the order is paid', async (t) => {
  const { url, guest, path, change, ann } = await startWithOrder(t)
  const cancel = () => guest.post(`${path}/cancel`, new URLSearchParams(), { origin: 'null' })
  await change({ status: 'paid' })
  t.equal((await cancel()).headers.get('location'), path)
  t.equal((await ann.call('GET', '/api/admin/orders/1')).status, 'paid')

  const again = createGuest(url)
  const unpaid = await placeOrder(again, { email: 'ben@example.com' })
  await again.post(`${unpaid}/cancel`, new URLSearchParams(), { origin: 'null' })
  t.equal((await ann.call('GET', '/api/admin/orders/2')).status, 'cancelled')
  const { items } = await ann.call('GET', '/api/admin/orders/2/history')
  t.match(items, [{ by: 'guest', changes: [{ field: 'status', to: 'cancelled' }] }, {}])
})

t.test('an amount that an administrator has changed is shown without parts', async (t) => {
  const { guest, path, change } = await startWithOrder(t)
  t.match(
    toText(await guest.get(path)),
    /Carbon credits for 2,000 kg of CO₂e €49\.00 Total €49\.00/,
  )
  t.match(toText(await guest.get(path)), /Price per tonne €24\.50/)
  await change({ currency: 'USD' })
  t.match(toText(await guest.get(path)), /Order summary Print Total US\$49\.00/)
  await change({ amountMinor: 4000, currency: 'EUR' })
  t.match(toText(await guest.get(path)), /Order summary Print Total €40\.00/)
})

t.test('a long link is repaired quickly', async (t) => {
  for (const stuck of ['.', '%20', '&']) {
    const url = `/o/${stuck.repeat(30_000 / stuck.length)}x`
    const start = process.cpuUsage()
    t.equal(normalizeUrl({ url }), url)
    t.ok(process.cpuUsage(start).user < 500_000, stuck)
  }
})

t.test('a link opens its order only, and others look all the same', async (t) => {
  const { url, guest, path } = await startWithOrder(t)
  const other = await placeOrder(createGuest(url), { name: 'Ben Other', email: 'ben@example.com' })
  t.not(other, path)
  t.match((await guest.get(other)).text, /Ben Other/)
  t.notMatch((await guest.get(path)).text, /Ben Other/)

  for (const end of [
    '.',
    ')',
    ',',
    '"',
    '%22',
    '%E2%80%8B',
    '%20',
    '/',
    '?utm_source=mail',
    '&utm_source=mail',
    '&amp;',
    '%20thanks',
    '%2',
    '.?a',
  ]) {
    t.match((await guest.get(path + end)).text, /CW-000001/, end)
  }
  t.match((await guest.get(`${path}/cancel.`)).text, /Cancel order/)
  const token = path.slice(3)
  const unknown = [
    'AAAAAAAAAAAAAAAAAAAAAA',
    token.slice(0, -1),
    `${token}x`,
    token.toLowerCase(),
    '1',
    '..%2fadmin',
    "'%20OR%201=1",
  ]
  const pages = new Set<string>()
  for (const one of unknown) {
    for (const suffix of ['', '/cancel']) {
      const { status, text } = await guest.get(`/o/${one}${suffix}`)
      t.equal(status, 404, one)
      pages.add(text)
    }
  }
  t.equal(pages.size, 1)
  t.match(
    [...pages][0],
    /<h1>We cannot find this order<\/h1>\s*<p>There is no order at this address/,
  )
  const post = await guest.post('/o/AAAAAAAAAAAAAAAAAAAAAA/cancel', new URLSearchParams())
  t.equal(post.status, 404)
})

t.test('the token of a link is in no log, header, cache or database', async (t) => {
  const { url, app, guest, path, dataDir, log } = await startWithOrder(t)
  const { headers, text } = await guest.get(path)
  t.equal(headers.get('referrer-policy'), 'no-referrer')
  t.equal(headers.get('cache-control'), 'no-store')
  t.equal(headers.get('x-robots-tag'), 'noindex')
  t.notMatch(text, /src="http|href="http/, 'the page links to no other site')

  const token = path.slice(3)
  for (const spelling of [
    `${path}/`,
    `${path}/cancel?x=1`,
    `//o/${token}`,
    `/%6f/${token}`,
    `/O/${token}`,
    `/o%2F${token}`,
    `/o//${token}`,
    `/o/x/../${token}`,
  ]) {
    await fetch(url + spelling, { redirect: 'manual' })
  }
  await guest.post(`${path}/cancel`, new URLSearchParams())
  const entries = JSON.stringify(log)
  t.match(entries, /"path":"\/o\/\[token\]"/)
  t.match(entries, /"path":"\/o\/\[token\]\/cancel"/)
  t.notMatch(entries, token)

  await app.close()
  for (const name of readdirSync(dataDir)) {
    t.notOk(readFileSync(join(dataDir, name)).includes(token), `${name} does not contain it`)
  }
})

t.test('links stay valid with a new secret, and after ordering is turned off', async (t) => {
  const { app, path, dataDir } = await startWithOrder(t)
  await app.close()
  const next = await startTwoAdmins(t, {
    DATA_DIR: dataDir,
    SESSION_SECRET: 'another secret for tests, of more than 32 bytes',
  })
  const guest = createGuest(next.url)
  t.equal((await guest.get(path)).status, 200)
  t.equal((await guest.get(TRIP)).status, 404, 'nothing more can be ordered')
})
