import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import {
  autoFulfil,
  getOrder,
  orderCertificate,
  startAutoFulfilment,
  startProvider,
  waitForCertificate,
} from '../support/guest-orders.js'
import { createGuest, placeOrder, toText } from '../support/guest.js'
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

t.test(
  'a session without a recent sign-in bought credits by marking an order as paid',
  async (t) => {
    const { provider, app, ann, guest } = await startAutoFulfilment(t)
    await placeOrder(guest)
    const anHourAgo = Date.now() - 60 * 60_000
    await app.database.query('UPDATE sessions SET authenticated_at = ?', [anHourAgo])
    const paid = { status: 'paid', version: '1' }
    const { headers } = await ann.post('/admin/orders/1/status', paid)
    t.match(headers.get('location'), '/admin/confirm')
    const bulk = { action: 'paid', order: '1:1', confirmed: '' }
    t.match((await ann.post('/admin/orders/bulk', bulk)).headers.get('location'), '/admin/confirm')
    t.match(await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' }), { status: 403 })
    await sleep(1_500)
    t.equal(provider.ledger.orders.length, 0)
    t.equal((await getOrder(ann, '1')).status, 'pending')
  },
)

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
