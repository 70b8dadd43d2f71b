import t from 'tap'
import { createConversionCounter } from '../../src/checkout/conversions.js'
import { createDayCalendar } from '../../src/core/formatting/day-calendar.js'
import { createFirstVersion } from '../../src/orders/change-order.js'
import type { Order } from '../../src/orders/order.js'
import { postJson } from '../support/app.js'
import { startDatabases } from '../support/databases.js'
import { createGuest, placeOrder, toText } from '../support/guest.js'
import { newOrder } from '../support/order-store.js'
import { HTMX_HEADERS, startTwoAdmins } from '../support/page-client.js'
import { waitFor } from '../support/wait-for.js'

const CALENDAR = createDayCalendar('Europe/Lisbon')

const databases = await startDatabases(t)
for (const [engine, open] of Object.entries(databases)) {
  t.test(`${engine}: processes count together, and each order once`, async (t) => {
    const pair = await open(t)
    const [one, other] = pair.map((database) => createConversionCounter(database, CALENDAR))
    if (one === undefined || other === undefined) throw new Error('two are opened')
    const today = CALENDAR.dayOf(Date.now())
    t.same(await one.read(today, today), { scans: 0, results: 0, orders: 0, paidOrders: 0 })
    for (let i = 0; i < 5; i++) {
      one.count('scan')
      one.count('result')
      other.count('result')
    }
    await Promise.all([one.flush(), other.flush()])
    await one.flush()

    const at = new Date().toISOString()
    const toOrder = (id: string, changes: Partial<Order> = {}): Order => ({
      ...createFirstVersion(newOrder(), at),
      id,
      orderNumber: `CW-${id}`,
      origin: 'guest',
      ...changes,
    })
    const emit = (order: Order) =>
      Promise.all(
        pair.map((database, index) =>
          database.write((tx) =>
            (index === 0 ? one : other).consume(tx, { id: 1, at, previousStatus: null, order }),
          ),
        ),
      )
    for (const order of [
      toOrder('1'),
      toOrder('2'),
      toOrder('1', { status: 'paid' }),
      toOrder('1', { status: 'cancelled' }),
      toOrder('3', { origin: 'admin', status: 'paid' }),
      toOrder('4', { placedAt: '2020-01-01T00:00:00Z' }),
    ]) {
      await emit(order)
    }
    const expected = { scans: 5, results: 10, orders: 2, paidOrders: 1 }
    t.same(await other.read(today, today), expected)
    t.same(await other.read(today + 1, today + 9), {
      scans: 0,
      results: 0,
      orders: 0,
      paidOrders: 0,
    })
    t.equal((await other.read(0, today)).orders, 3)
  })
}

t.test('a failed flush loses no count', async (t) => {
  const [database] = await databases.SQLite(t)
  let isAway = true
  const counter = createConversionCounter(
    {
      ...database,
      write: (work) => (isAway ? Promise.reject(new Error('away')) : database.write(work)),
    },
    CALENDAR,
  )
  counter.count('scan')
  await t.rejects(counter.flush(), { message: 'away' })
  counter.count('scan')
  isAway = false
  await counter.flush()
  const today = CALENDAR.dayOf(Date.now())
  t.equal((await counter.read(today, today)).scans, 2)
})

t.test('the dashboard shows how many scans become orders', async (t) => {
  const { url, ann } = await startTwoAdmins(t, { CURRENCY: 'EUR', PRICE_PER_TONNE: '24.50' })
  const guest = createGuest(url)
  const { body } = await postJson(`${url}/api/qr-code/generate`, {
    calculatorType: 'custom',
    calculatorData: { amount: 2, unit: 't' },
    vessel: { name: 'Eendracht' },
  })
  const { pathname, search } = new URL(body.url)
  await guest.get(pathname + search)
  await fetch(body.url, { method: 'HEAD' })
  await guest.get('/calculator/custom')
  await guest.get('/calculator/custom?amount=x&unit=t')
  // Typing in the form is one result.
  const type = (amount: string, current: string) =>
    guest.get(`/calculator/custom?amount=${amount}&unit=t`, {
      ...HTMX_HEADERS,
      'hx-current-url': `${url}/calculator/custom${current}`,
    })
  await type('2', '')
  await type('25', '?amount=2&unit=t')
  await type('250', search)
  await placeOrder(guest)
  await placeOrder(createGuest(url), { email: 'ben@example.com' })
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const expected =
    'From scan to payment Scans 1 Results 2 Orders 2 100.0% of results Paid 1 50.0% of orders'
  t.ok(await waitFor(async () => toText(await ann.get('/admin')).includes(expected)))
})

t.test('the dashboard hides it if guests cannot order', async (t) => {
  const { ann } = await startTwoAdmins(t)
  await ann.call('POST', '/api/admin/orders', newOrder())
  t.notMatch((await ann.get('/admin')).text, /From scan to payment/)
})
