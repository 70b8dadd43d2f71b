import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { LedgerEntry } from '../../src/demo/fake-provider/fake-provider.js'
import {
  getOrder,
  orderCertificate,
  startAutoFulfilment,
  waitForStatus,
} from '../support/guest-orders.js'
import { createGuest, findLink, placeOrder, readForm, toText } from '../support/guest.js'
import { skipPauses } from '../support/mail-service.js'
import { RETIREMENT } from '../support/order-store.js'
import type { PageClient } from '../support/page-client.js'
import { waitFor } from '../support/wait-for.js'

/** Starts the service with a paid order whose request to the provider was lost. */
async function startWithLostRequest(t: Test) {
  const service = await startAutoFulfilment(t, { ORDERSOURCE_TIMEOUT_MS: '400' })
  const { provider, ann, guest } = service
  await placeOrder(guest)
  provider.fault = 'no_response_instead_of_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitFor(async () =>
    toText(await ann.get('/admin/orders/1')).includes('Placement status unknown'),
  )
  provider.fault = null
  return service
}

t.test('an order without a response is never sent again', async (t) => {
  const { provider, ann, url } = await startWithLostRequest(t)
  await sleep(6_500)
  t.equal(provider.ledger.orders.length, 0)
  t.equal((await getOrder(ann, '1')).status, 'paid')

  await placeOrder(createGuest(url), { name: 'Ben', email: 'ben@example.com' })
  provider.fault = 'no_response_after_order'
  await ann.call('PATCH', '/api/admin/orders/2', { status: 'paid' })
  await waitFor(async () => provider.ledger.orders.length === 1)
  provider.fault = null
  await waitForStatus(ann, '2', 'fulfilled')
  t.equal(provider.ledger.orders.length, 1, 'found at the provider')
})

t.test('a cancelled order was fulfilled by a retry', async (t) => {
  const { provider, ann, guest, app } = await startAutoFulfilment(t, {
    ORDERSOURCE_TIMEOUT_MS: '400',
  })
  const path = await placeOrder(guest)
  provider.fault = 'no_response_after_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const page = () => ann.get('/admin/orders/1').then(toText)
  await waitFor(async () => (await page()).includes('Placement status unknown'))
  provider.fault = null
  await ann.post('/admin/orders/1/fulfilment/check', {})
  await waitForStatus(ann, '1', 'processing')
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'fulfilled' })
  await ann.call('DELETE', '/api/admin/orders/1')
  await skipPauses(app)
  const readMessages = () =>
    app.database.query("SELECT state FROM outbox WHERE queue = 'fulfilment'")
  await waitFor(async () => JSON.stringify(await readMessages()) === '[{"state":"sent"}]')
  t.match(await getOrder(ann, '1'), { status: 'cancelled', cancelledFrom: 'fulfilled' })
  t.match(toText(await guest.get(path)), /Cancelled/)
})

t.test('a certificate stayed valid after its order at the provider was given up', async (t) => {
  const service = await startAutoFulfilment(t)
  const { ann, guest } = service
  const { path, certificate } = await orderCertificate(service, '1')
  for (const orderSourceId of ['typed', null]) {
    await ann.call('PATCH', '/api/admin/orders/1', { orderSourceId })
    t.equal((await guest.get(certificate)).status, 410)
    t.match(toText(await guest.get(path)), /Retirement pending/)
  }
  await ann.call('PATCH', '/api/admin/orders/1', { orderSourceId: '1' })
  t.equal((await guest.get(certificate)).status, 200)
})

t.test('an order is placed only if it is what the guest accepted', async (t) => {
  const { provider, ann, url } = await startAutoFulfilment(t)
  const cases: [changes: object, reason: RegExp][] = [
    // An operator once turned USD 4,148 into JPY 60, and the offset was bought.
    [
      { amountMinor: 60, currency: 'JPY' },
      /accepted: currency, amount\. Accepted: 2,000 kg CO₂e for US\$47\.80\. Now: .* for JP¥60\./,
    ],
    [{ currency: 'EUR' }, /differs from what the guest accepted: currency\./],
    [{ amountMinor: 100 }, /differs from what the guest accepted: amount\./],
    [{ amountMinor: 1_000_000 }, /differs from what the guest accepted: amount\./],
    [{ co2eKg: 1_999.999 }, /differs from what the guest accepted: CO₂e\./],
  ]
  for (const [i, [changes, reason]] of cases.entries()) {
    const id = String(i + 1)
    const path = await placeOrder(createGuest(url), { email: `guest${id}@example.com` })
    await ann.call('PATCH', `/api/admin/orders/${id}`, { ...changes, status: 'paid' })
    const page = () => ann.get(`/admin/orders/${id}`)
    await waitFor(async () => toText(await page()).includes('Automatic placement stopped'))
    t.match(toText(await page()), reason)
    t.match(findLink(await page(), 'Try again…'), `/admin/orders/${id}/fulfilment`)
    t.match(await getOrder(ann, id), { status: 'paid', orderSourceId: null })
    t.notMatch(toText(await createGuest(url).get(path)), reason)
  }
  t.equal(provider.ledger.orders.length, 0)
  const { items } = await ann.call('GET', '/api/admin/orders?exception=not_placed')
  t.equal(items.length, cases.length, 'needs attention')

  const form = await ann.get('/admin/orders/1/fulfilment?portfolio=2')
  t.match(
    toText(form),
    /differs from what the guest accepted: currency, amount and portfolio\. The guest accepted 2,000 kg CO₂e for US\$47\.80, from Harbour Mix\./,
  )
  await placeOrder(createGuest(url), { email: 'last@example.com' })
  t.notMatch(
    toText(await ann.get(`/admin/orders/${cases.length + 1}/fulfilment?portfolio=1`)),
    /guest accepted/,
  )
})

t.test(
  'a portfolio that is no longer offered, or costs another currency, is not placed',
  async (t) => {
    const { provider, ann, guest, url } = await startAutoFulfilment(t)
    const page = (id: string) => ann.get(`/admin/orders/${id}`).then(toText)
    await placeOrder(guest)
    const [first] = provider.portfolios
    if (first === undefined) throw new Error('no portfolio')
    provider.portfolios.splice(0, 1, { ...first, currency: 'GBP' })
    await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
    await waitFor(async () => (await page('1')).includes('Automatic placement stopped'))
    t.match(await page('1'), /The provider’s price is in GBP, but the guest paid in USD\./)

    await placeOrder(createGuest(url), { email: 'ben@example.com' })
    provider.portfolios.shift()
    await ann.call('PATCH', '/api/admin/orders/2', { status: 'paid' })
    await waitFor(async () => (await page('2')).includes('Automatic placement stopped'))
    t.match(await page('2'), /no longer offers the portfolio that the guest chose/)
    t.equal(provider.ledger.orders.length, 0)
  },
)

t.test('administrators see why an order is not placed', async (t) => {
  const { provider, ann, guest, url } = await startAutoFulfilment(t)
  const page = (id: string) => ann.get(`/admin/orders/${id}`).then(toText)
  await placeOrder(guest)
  const [first] = provider.portfolios
  if (first === undefined) throw new Error('no portfolio')
  provider.portfolios.splice(0, 1, { ...first, pricePerTonMinor: 100_000 })
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitFor(async () => (await page('1')).includes('Automatic placement stopped'))
  t.match(await page('1'), /The provider’s price is higher than what the guest paid\./)
  provider.portfolios.splice(0, 1, first)

  const stopped = await ann.get('/admin/orders/1')
  t.match(toText(stopped), /was not placed automatically The provider’s price is higher/)
  t.match(findLink(stopped, 'Try again…'), '/admin/orders/1/fulfilment')

  await placeOrder(createGuest(url), { name: 'Ben', email: 'ben@example.com' })
  provider.ledger.credit = 1
  await ann.call('PATCH', '/api/admin/orders/2', { status: 'paid' })
  await waitFor(async () => (await page('2')).includes('Insufficient credits'))
  t.match(await page('2'), /Automatic placement: The provider refused the order/)
  provider.ledger.credit = 1_000_000
  await waitForStatus(ann, '2', 'fulfilled')
  t.equal(provider.ledger.orders.length, 1)
})

/** Waits until automatic placement has stopped; returns the text of the order's page. */
async function waitForStop(ann: PageClient, id = '1'): Promise<string> {
  const page = () => ann.get(`/admin/orders/${id}`).then(toText)
  await waitFor(async () => (await page()).includes('Automatic placement stopped'))
  return page()
}

t.test('a cancelled order that was restored was placed by its old message', async (t) => {
  const { provider, app, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  provider.fault = 503
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const page = () => ann.get('/admin/orders/1').then(toText)
  await waitFor(async () => (await page()).includes('The provider cannot be reached.'))
  const { version } = await ann.call('DELETE', '/api/admin/orders/1')
  await ann.post('/admin/orders/1/restore', { version: String(version) })
  provider.fault = null
  await skipPauses(app)
  t.match(await waitForStop(ann), /The order was cancelled or refunded before\./)
  t.equal(provider.ledger.orders.length, 0)
  t.match(await getOrder(ann, '1'), { status: 'paid', orderSourceId: null })
})

t.test('undoing a change bought credits', async (t) => {
  const { provider, app, ann, guest, url } = await startAutoFulfilment(t)
  await placeOrder(guest)
  await placeOrder(createGuest(url), { email: 'ben@example.com' })
  // The first one was never paid before; the second one is stopped by its amount.
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'processing' })
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'refunded' })
  await ann.call('PATCH', '/api/admin/orders/2', { status: 'paid', amountMinor: 100 })
  await waitForStop(ann, '2')
  await ann.call('PATCH', '/api/admin/orders/2', { status: 'fulfilled' })
  await app.database.query('UPDATE sessions SET authenticated_at = ?', [Date.now() - 3_600_000])
  for (const id of ['1', '2']) {
    const { version } = await getOrder(ann, id)
    await ann.post(`/admin/orders/${id}/restore`, { version: String(version) })
  }
  t.equal((await getOrder(ann, '2')).status, 'paid')
  await ann.call('PATCH', '/api/admin/orders/2', { amountMinor: 4_780 })
  await sleep(1_500)
  t.equal(provider.ledger.orders.length, 0)
  const queued = await app.database.query(
    "SELECT order_id FROM outbox WHERE queue = 'fulfilment' AND state = 'pending'",
  )
  t.same(queued, [])
})

t.test('an order whose retirement had been entered was bought again', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  await ann.call('PATCH', '/api/admin/orders/1', { retirement: RETIREMENT })
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  t.match(await waitForStop(ann), /its carbon credits are already retired\./)
  t.equal(provider.ledger.orders.length, 0)
})

t.test('allowing another attempt let the old message buy', async (t) => {
  const { provider, app, ann } = await startWithLostRequest(t)
  await waitFor(async () => {
    const { headers } = await ann.post('/admin/orders/1/fulfilment/reset', {})
    return headers.get('location') !== null
  }, 40_000)
  const { items } = await ann.call('GET', '/api/admin/orders/1/history')
  t.match(items[0].changes, [{ field: 'placement', to: { state: 'released' } }])
  await skipPauses(app)
  t.match(await waitForStop(ann), /Another attempt was allowed\./)
  t.equal(provider.ledger.orders.length, 0)
})

t.test('credits of a portfolio were bought that the provider had replaced', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  const [first] = provider.portfolios
  if (first === undefined) throw new Error('no portfolio')
  provider.portfolios.splice(0, 1, { ...first, name: 'Coal phase-out' })
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  t.match(
    await waitForStop(ann),
    /The guest chose “Harbour Mix”, but the provider now calls the portfolio “Coal phase-out”\./,
  )
  t.equal(provider.ledger.orders.length, 0)
})

t.test('staff were not told of another portfolio, or of a price above what was paid', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t, { AUTO_FULFIL: 'false' })
  await placeOrder(guest)
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const open = async () => toText(await ann.get('/admin/orders/1/fulfilment?portfolio=1'))
  t.notMatch(await open(), /differs from what the guest accepted|charges more/)
  const [first] = provider.portfolios
  if (first === undefined) throw new Error('no portfolio')
  const changes = { name: 'Coal phase-out', pricePerTonMinor: 3 * first.pricePerTonMinor }
  provider.portfolios.splice(0, 1, { ...first, ...changes })
  const dialog = await open()
  t.match(dialog, /differs from what the guest accepted: portfolio\. .* from Harbour Mix\./)
  t.match(dialog, /The provider charges more than the customer pays\./)
})

t.test('an order that was placed in another portfolio was marked as fulfilled', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t, { ORDERSOURCE_TIMEOUT_MS: '400' })
  const path = await placeOrder(guest)
  provider.fault = 'no_response_after_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitFor(async () => provider.ledger.orders.length === 1)
  const [placed] = provider.ledger.orders
  if (placed === undefined) throw new Error('not placed')
  placed.portfolioId = 2
  provider.fault = null
  await waitForStatus(ann, '1', 'processing')
  await sleep(1_500)
  t.equal((await getOrder(ann, '1')).status, 'processing')
  t.match(
    toText(await ann.get('/admin/orders/1')),
    /Differs from what was confirmed: portfolio.*from Portfolio 2, as/,
  )
  t.notMatch(toText(await guest.get(path)), /View the page/)
})

t.test('two orders had certificates for one order at the provider', async (t) => {
  const service = await startAutoFulfilment(t)
  const { provider, ann, url } = service
  await orderCertificate(service, '1')
  // The provider uses an ID again.
  const [first] = provider.ledger.orders
  if (first === undefined) throw new Error('not placed')
  first.id = 'archived'
  const other = createGuest(url)
  const path = await placeOrder(other, { email: 'ben@example.com' })
  await ann.call('PATCH', '/api/admin/orders/2', { status: 'paid' })
  const second = await waitForStatus(ann, '2', 'processing')
  t.equal(second.orderSourceId, '1')
  await sleep(1_500)
  t.equal((await getOrder(ann, '2')).status, 'processing', 'not fulfilled automatically')
  const bulk = { action: 'fulfilled', order: `2:${second.version}`, confirmed: '1' }
  await ann.post('/admin/orders/bulk', bulk)
  await waitForStatus(ann, '2', 'fulfilled')
  await sleep(1_500)
  t.match(toText(await other.get(path)), /Retirement pending/)
})

t.test('credits had no price limit if the provider named no price', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t, {
    CURRENCY: 'EUR',
    PRICE_PER_TONNE: '24.50',
  })
  const [first] = provider.portfolios
  if (first === undefined) throw new Error('no portfolio')
  provider.portfolios.splice(0, 1, { ...first, currency: 'EUR' })
  await placeOrder(guest)
  const unpriced = { ...first, currency: 'USD', pricePerTonMinor: 9_000_000 }
  provider.portfolios.splice(0, 1, unpriced)
  provider.hidesPrices = true
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  t.match(await waitForStop(ann), /The provider’s price is in USD, but the guest paid in EUR\./)
  t.equal(provider.ledger.orders.length, 0)
})

t.test('an undo of an undo bought credits', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  provider.fault = 503
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const undo = async () => {
    const { version } = await getOrder(ann, '1')
    await ann.post('/admin/orders/1/restore', { version: String(version) })
    const bulk = { action: 'undo', order: `1:${(await getOrder(ann, '1')).version}`, list: '' }
    return toText(await ann.post('/admin/orders/bulk', bulk))
  }
  await undo()
  provider.fault = null
  await undo()
  t.equal((await getOrder(ann, '1')).status, 'pending')
  await sleep(1_500)
  t.equal(provider.ledger.orders.length, 0)
})

t.test('an order that a gateway had refused was bought twice', async (t) => {
  const { provider, app, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  provider.fault = 'refused_after_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitFor(async () => provider.ledger.orders.length === 1)
  await skipPauses(app)
  await sleep(1_500)
  provider.fault = null
  await skipPauses(app)
  await waitForStatus(ann, '1', 'fulfilled')
  t.equal(provider.ledger.orders.length, 1)
})

t.test('staff bought an order again that a gateway had refused', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  provider.fault = 'refused_after_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitFor(async () =>
    toText(await ann.get('/admin/orders/1')).includes('The provider refused the order'),
  )
  provider.fault = null
  const form = readForm(await ann.get('/admin/orders/1/fulfilment?portfolio=1'))
  await ann.post('/admin/orders/1/fulfilment', form)
  t.equal(provider.ledger.orders.length, 1)
  t.equal((await getOrder(ann, '1')).orderSourceId, '1', 'found at the provider')
})

t.test('staff were not told that an order was refused, and the list was incomplete', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  provider.fault = 'refused_after_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const page = () => ann.get('/admin/orders/1').then(toText)
  await waitFor(async () => (await page()).includes('The provider refused the order'))
  const open = () => ann.get('/admin/orders/1/fulfilment?portfolio=1')
  ;(provider.ledger.orders as LedgerEntry[]).length = 0
  provider.fault = null
  t.notMatch(toText(await open()), /should not be bought/, 'the list shows that it was not placed')
  provider.fault = 'incomplete_list'
  t.match(toText(await open()), /list does not show whether it was placed/)
})

t.test('an order was bought again after a backup had been restored', async (t) => {
  const { provider, app, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitForStatus(ann, '1', 'fulfilled')
  // What a backup from before the payment contains.
  for (const sql of [
    'UPDATE orders SET status = 0, paid_at = NULL, fulfilled_at = NULL, order_source_id = NULL, version = 1, attempt = NULL',
    'DELETE FROM changes',
    'DELETE FROM order_events',
    'DELETE FROM outbox',
  ]) {
    await app.database.query(sql)
  }
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  t.match(await waitForStop(ann), /because the provider has an order with its number, 1\./)
  t.equal(provider.ledger.orders.length, 1)
})

t.test('staff were told to buy credits that were already retired', async (t) => {
  const { ann, guest } = await startAutoFulfilment(t, { AUTO_FULFIL: 'false' })
  await placeOrder(guest)
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid', retirement: RETIREMENT })
  t.match(
    toText(await ann.get('/admin/orders/1')),
    /The carbon credits are retired Mark the order as fulfilled/,
  )
  const dialog = await ann.get('/admin/orders/1/fulfilment?portfolio=1')
  t.match(toText(dialog), /should not be bought, because its carbon credits are already retired/)
})

t.test('credits were bought on behalf of “Erased”', async (t) => {
  const { provider, app, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest, { email: 'agnes@example.org' })
  provider.fault = 503
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const page = () => ann.get('/admin/orders/1').then(toText)
  await waitFor(async () => (await page()).includes('The provider cannot be reached.'))
  await ann.call('POST', '/api/admin/erasures', { email: 'agnes@example.org' })
  provider.fault = null
  await skipPauses(app)
  await waitForStatus(ann, '1', 'fulfilled')
  t.equal(provider.ledger.orders[0]?.onBehalfOfName, undefined)
})

t.test('only the latest refused attempt was looked for', async (t) => {
  const { provider, app, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  provider.fault = 'refused_after_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitFor(async () => provider.ledger.orders.length === 1)
  const orders = provider.ledger.orders as LedgerEntry[]
  const hidden = orders.splice(0)
  await waitFor(async () => {
    await skipPauses(app)
    return provider.ledger.orders.length === 1
  })
  // The provider shows the first order, and has refused the second.
  orders.splice(0, 1, ...hidden)
  provider.fault = null
  await skipPauses(app)
  await waitForStatus(ann, '1', 'fulfilled')
  t.equal(provider.ledger.orders.length, 1)
})

t.test('an order that a person was processing was bought again', async (t) => {
  const { provider, app, ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  provider.fault = 503
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const page = () => ann.get('/admin/orders/1').then(toText)
  await waitFor(async () => (await page()).includes('The provider cannot be reached.'))
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'processing' })
  provider.fault = null
  await skipPauses(app)
  t.match(await waitForStop(ann), /The order is processing\./)
  t.equal(provider.ledger.orders.length, 0)
})
