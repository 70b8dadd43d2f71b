import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createGuest, findLink, placeOrder, toText } from '../support/guest.js'
import {
  autoFulfil,
  getOrder,
  orderCertificate,
  startAutoFulfilment,
  startProvider,
  waitForCertificate,
  waitForStatus,
} from '../support/guest-orders.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'
import { waitFor } from '../support/wait-for.js'

const server = await startPostgres(t)
const engines: Record<string, () => Promise<NodeJS.ProcessEnv>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ DATABASE_URL: await server.createDatabase() }),
}

for (const [engine, getEnvironment] of Object.entries(engines)) {
  t.test(`${engine}: a paid order of a guest is placed once, for its beneficiary`, async (t) => {
    const service = await startAutoFulfilment(t, await getEnvironment())
    const { provider, ann, url } = service
    await orderCertificate(service, '1', { beneficiary: 'Crew of the Eendracht' })
    t.match(provider.ledger.orders, [
      { tons: 2, portfolioId: 1, note: /^CW-000001 /, onBehalfOfName: 'Crew of the Eendracht' },
    ])
    t.match(await getOrder(ann, '1'), { status: 'fulfilled', orderSourceId: '1' })
    const { items } = await ann.call('GET', '/api/admin/orders/1/history')
    t.match(items[0], { by: 'auto-fulfilment', changes: [{ field: 'status', to: 'fulfilled' }] })

    // Neither an unpaid order of a guest nor a paid one of the shop.
    await placeOrder(createGuest(url), { email: 'ben@example.com', name: 'Ben' })
    await ann.call('POST', '/api/admin/orders', { ...newOrder(), status: 'paid' })
    await sleep(1_500)
    t.equal(provider.ledger.orders.length, 1)
  })
}

t.test('nothing is placed by default', async (t) => {
  const provider = await startProvider(t)
  const { url, ann } = await startTwoAdmins(t, { ...autoFulfil(provider), AUTO_FULFIL: '' })
  const guest = createGuest(url)
  const path = await placeOrder(guest)
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await sleep(1_500)
  t.equal(provider.ledger.orders.length, 0)
  t.equal((await getOrder(ann, '1')).status, 'paid')
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'fulfilled' })
  await sleep(1_500)
  t.match(toText(await guest.get(path)), /Retirement pending/, 'and nothing is certified')
})

t.test('AUTO_FULFIL needs a provider', async (t) => {
  await t.rejects(startTwoAdmins(t, { AUTO_FULFIL: 'true' }), /AUTO_FULFIL needs an order source/)
})

t.test('an order is placed when the provider is back', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t)
  const path = await placeOrder(guest)
  provider.fault = 503
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const page = () => ann.get('/admin/orders/1').then(toText)
  await waitFor(async () => (await page()).includes('The provider cannot be reached.'))
  t.match(await page(), /Automatic placement: .* The next attempt is on/)
  const { items } = await ann.call('GET', '/api/admin/orders?exception=not_placed')
  t.match(items, [{ id: '1' }])
  provider.fault = null
  await waitForCertificate(guest, path)
  t.equal(provider.ledger.orders.length, 1)
  t.notMatch(await page(), /Automatic placement/)
})

t.test('an order without a response is never sent again', async (t) => {
  const { provider, ann, guest, url } = await startAutoFulfilment(t, {
    ORDERSOURCE_TIMEOUT_MS: '400',
  })
  await placeOrder(guest)
  provider.fault = 'no_response_instead_of_order'
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const page = () => ann.get('/admin/orders/1').then(toText)
  await waitFor(async () => (await page()).includes('Placement status unknown'))
  provider.fault = null
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

t.test('administrators see why an order is not placed', async (t) => {
  const { provider, ann, guest, url } = await startAutoFulfilment(t)
  const page = (id: string) => ann.get(`/admin/orders/${id}`).then(toText)
  await placeOrder(guest)
  await ann.call('PATCH', '/api/admin/orders/1', { amountMinor: 100 })
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitFor(async () => (await page('1')).includes('Automatic placement stopped'))
  t.match(await page('1'), /The provider’s price is higher than what the guest paid\./)

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
