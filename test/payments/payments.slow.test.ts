import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { calculatePriceParts } from '../../src/checkout/prices.js'
import { migratePostgres } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { signWebhook } from '../../src/demo/fake-stripe/event-sender.js'
import type { FakeStripe } from '../../src/demo/fake-stripe/fake-stripe.js'
import { createPaymentStore } from '../../src/payments/payment-store.js'
import {
  fromStripeAmount,
  getChargeLimits,
  toStripeAmount,
} from '../../src/payments/stripe-amount.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { autoFulfil, startProvider } from '../support/guest-orders.js'
import { createGuest, fillIn, findLink, readForm, toText, type Guest } from '../support/guest.js'
import { mailEnvironment, skipPauses } from '../support/mail-service.js'
import { HTMX_HEADERS, startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'
import { ADMIN } from '../support/sign-in.js'
import { startSmtpServer } from '../support/smtp-server.js'
import {
  getSessionId,
  getWebhookUrl,
  sendWebhooks,
  settle,
  startStripe,
} from '../support/stripe.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'

const PRICE = { CURRENCY: 'EUR', PRICE_PER_TONNE: '24.50', SERVICE_FEE_PERCENT: '10' }
const TRIP = '/offset?type=custom&amount=2&unit=t'
const AMOUNT = 5390

const server = await startPostgres(t)
const ENGINES = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ DATABASE_URL: await server.createDatabase() }),
}

async function start(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const { stripe, environment: stripeEnvironment } = await startStripe(t)
  const service = await startTwoAdmins(t, { ...PRICE, ...stripeEnvironment, ...environment })
  sendWebhooks(stripe, service.url)
  const guest = createGuest(service.url)
  const { ann } = service
  return {
    ...service,
    stripe,
    guest,
    getOrder: (id = '1') => ann.call('GET', `/api/admin/orders/${id}`),
    getStatus: async (id = '1') =>
      (await ann.call('GET', `/api/admin/orders/${id}`)).status as string,
    getPayments: async (id = '1') =>
      (await ann.call('GET', `/api/admin/orders/${id}/payments`)).items as any[],
    getAdminPage: async (id = '1') => toText(await ann.get(`/admin/orders/${id}`)),
  }
}

async function submit(guest: Guest, trip = TRIP): Promise<string> {
  const form = fillIn(readForm(await guest.get(trip)))
  const { status, headers } = await guest.post('/offset', form)
  if (status !== 303) throw new Error(`not ordered: ${status}`)
  return headers.get('location') ?? ''
}

async function startWithMail(t: Test) {
  const smtp = await startSmtpServer(t)
  const environment = { ...(await mailEnvironment(smtp)), MAIL_HOLD_SECONDS: '0' }
  return { ...(await start(t, environment)), smtp }
}

/** Sends all webhooks again. */
async function sendEvents({ sender }: FakeStripe): Promise<void> {
  for (const event of sender.events) await sender.send(event)
}

/** Orders, and returns the session of the payment and the path of the order's page. */
async function order(
  { guest, stripe }: Pick<Awaited<ReturnType<typeof start>>, 'guest' | 'stripe'>,
  trip = TRIP,
) {
  const session = stripe.ledger.getSession(getSessionId(await submit(guest, trip)))
  const { pathname: path } = new URL(session.cancel_url)
  return { session, path }
}

/** Orders and pays as order 1, and waits until it is paid. */
async function orderAndPay(t: Test, service: Awaited<ReturnType<typeof start>>) {
  const ordered = await order(service)
  service.stripe.ledger.pay(ordered.session.id)
  await waitForEqual(t, service.getStatus, 'paid')
  return ordered
}

const pay = (guest: Guest, path: string) => guest.post(`${path}/pay`, new URLSearchParams())
const cancel = (guest: Guest, path: string) => guest.post(`${path}/cancel`, new URLSearchParams())

for (const [engine, getEnvironment] of Object.entries(ENGINES)) {
  t.test(`${engine}: a guest orders, pays, and the webhook marks the order as paid`, async (t) => {
    const service = await start(t, await getEnvironment())
    const { guest, stripe, getStatus, getPayments, getOrder } = service
    const { session, path } = await order(service)
    t.match(session, { amount_total: AMOUNT, currency: 'eur', client_reference_id: 'CW-000001' })
    t.equal(session.customer_email, 'ann@example.com')
    t.match(toText(await guest.get(path)), /Waiting for your payment.*Pay €53\.90/)
    t.match(await getOrder(), { origin: 'guest', checkout: { paymentMethod: 'stripe' } })
    t.match(await getPayments(), [{ status: 'open', amountMinor: AMOUNT, sessionId: session.id }])

    stripe.ledger.pay(session.id)
    await waitForEqual(t, getStatus, 'paid')
    t.match(toText(await guest.get(`${path}?payment=done`)), /Your credits are being bought/)
    t.match(await getPayments(), [
      { status: 'paid', problem: null, paymentIntentId: session.payment_intent },
    ])
    const { items } = await service.ann.call('GET', '/api/admin/orders/1/history')
    t.match(items[0], { by: 'stripe', changes: [{ field: 'status', to: 'paid' }] })

    // Replayed, and in another sequence.
    for (const event of stripe.sender.events.toReversed()) {
      t.equal(await stripe.sender.send(event), 204)
      t.equal(await stripe.sender.send(event), 204)
    }
    t.equal((await getOrder()).version, 2)

    t.equal((await pay(guest, path)).headers.get('location'), path, 'it cannot be paid twice')
    await cancel(guest, path)
    t.equal(await getStatus(), 'paid')
    t.equal(stripe.ledger.sessions.length, 1)
  })

  t.test(`${engine}: a lost webhook loses nothing`, async (t) => {
    const environment = { ...(await getEnvironment()), STRIPE_CHECK_INTERVAL: '0.1' }
    const service = await start(t, environment)
    const { stripe, getPayments } = service
    stripe.sender.url = null
    await orderAndPay(t, service)
    t.match(await getPayments(), [{ status: 'paid', problem: null }])
  })

  t.test(`${engine}: orders are filtered and exported by origin and payment`, async (t) => {
    const service = await start(t, await getEnvironment())
    const { ann, stripe, guest, getStatus } = service
    await ann.call('POST', '/api/admin/orders', {
      customerName: '"paymentMethod":"stripe"',
      customerEmail: 'api@example.com',
      co2eKg: 1,
      amountMinor: 100,
      currency: 'EUR',
    })
    const paid = await order(service)
    await order(service, '/offset?type=custom&amount=3&unit=t')
    stripe.ledger.pay(paid.session.id)
    await waitForEqual(t, () => getStatus('2'), 'paid')

    const find = async (query: string): Promise<string[]> => {
      const list = await ann.call('GET', `/api/admin/orders?sort=orderNumber&${query}`)
      return list.items?.map(({ id }: { id: string }) => id) ?? [JSON.stringify(list)]
    }
    for (const [query, ids] of [
      ['origin=guest', ['2', '3']],
      ['origin=api', ['1']],
      ['origin=api&origin=guest&status=pending', ['1', '3']],
      ['paymentMethod=stripe', ['2', '3']],
      ['paymentMethod=invoice', []],
      ['payment=paid', ['2']],
      ['payment=open', ['3']],
      ['payment=open&payment=paid', ['2', '3']],
      ['payment=paid&q=ann', ['2']],
      ['payment=paid&status=pending', []],
      ['payment=refunded', []],
      ['payment=problem', []],
    ] as const) {
      t.same(await find(query), ids, query)
      const { totalItems } = await ann.call('GET', `/api/admin/orders?${query}`)
      t.equal(totalItems, ids.length, query)
    }
    const page = toText(
      await ann.get('/admin/orders?payment=paid&origin=guest&paymentMethod=stripe'),
    )
    t.match(page, /1 order .*Origin Guest.*Payment by Stripe.*Payment Paid.*Paid selected/)

    const csv = (await ann.get('/admin/orders/export?format=csv&payment=paid')).text.split('\r\n')
    t.match(csv[0], /checkout,paymentMethod,paymentStatus,paymentAmountMinor,paymentCurrency,/)
    t.equal(csv.length, 3, 'one order')
    t.match(csv[1], `,stripe,paid,${AMOUNT},EUR,0,,,${paid.session.id},`)
    const all = (await ann.get('/admin/orders/export?format=csv&sort=orderNumber')).text
    t.match(all.split('\r\n')[1], /,api,+$/)
    const xlsx = await ann.get('/admin/orders/export?format=xlsx&origin=guest')
    t.equal(xlsx.status, 200)
    t.equal((await guest.get(paid.path)).status, 200)
  })
}

t.test('two processes share payments', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  const url = await server.createDatabase()
  const postgres = openPostgres(url, { poolSize: 4 })
  await migratePostgres(postgres)
  for (const pair of [
    [openSqliteDatabase(path), openSqliteDatabase(path)],
    [postgres, openPostgres(url, { poolSize: 4 })],
  ]) {
    const stores = pair.map(createPaymentStore)
    const [first, second] = stores
    if (first === undefined || second === undefined) return
    const one = { id: '1', amountMinor: 100, currency: 'EUR' }
    const added = await Promise.all(
      [first, second, first, second].map((store) => store.add(one, 1, 0)),
    )
    t.equal(new Set(added.map(({ id }) => id)).size, 1, 'one for all')
    for (const id of ['2', '3', '4', '5']) await first.add({ ...one, id }, 1, 0)

    const until = Date.now() + 60_000
    const taken = await Promise.all(stores.map((store) => store.takeDue(5, until)))
    t.same(
      taken.flatMap((payments) => payments.map(({ orderId }) => orderId)).toSorted(),
      ['1', '2', '3', '4', '5'],
      'each is checked by one',
    )
    const [payment] = await first.list('1')
    if (payment === undefined) return
    const updates = await Promise.all(
      stores.map((store, i) => store.update(payment, { intentId: `pi_${i}` })),
    )
    t.equal(updates.filter((updated) => updated !== null).length, 1, 'none overwrites another')
    const [database] = pair
    await database?.write((tx) => first.makeDue(tx, '1', true))
    t.same(await first.takeDue(5, until), [], 'only those that can change')
    await Promise.all(pair.map((one) => one.close()))
  }
})

t.test('the amount charged is the quoted one in every currency', async (t) => {
  for (const [currency, price, charged, shown] of [
    ['JPY', '3501', 7_702, 'JP¥7,702'],
    ['ISK', '3501', 770_200, 'ISK 7,702'],
    ['EUR', '24.51', 5_392, '€53.92'],
    // 18,002.00 and 1,800.20, raised to a whole number.
    ['MGA', '9001', 19_803, 'MGA 19,803.00'],
    // 16.334 and 1.633, raised so that the last digit is 0.
    ['KWD', '8.167', 17_970, 'KWD 17.970'],
  ] as const) {
    const service = await start(t, { CURRENCY: currency, PRICE_PER_TONNE: price })
    const form = await service.guest.get(TRIP)
    const total = /Total<\/span> <strong>([^<]*)/.exec(form.text)?.[1]
    t.match(total?.replaceAll('\u00a0', ' '), shown, currency)
    const { session, path } = await order(service)
    t.match(session, { amount_total: charged, currency: currency.toLowerCase() })
    service.stripe.ledger.pay(session.id)
    await waitForEqual(t, service.getStatus, 'paid', currency)
    const { amountMinor, checkout } = await service.getOrder()
    t.equal(Number(checkout.offsetMinor) + Number(checkout.serviceFeeMinor), amountMinor, currency)
    t.equal(toStripeAmount(amountMinor, currency), charged)
    const text = toText(await service.guest.get(path)).replaceAll('\u00a0', ' ')
    t.match(text, `Total ${shown}`)
  }
})

t.test('amounts are converted to what Stripe charges', async (t) => {
  for (const [amount, currency, expected] of [
    [1, 'EUR', 1],
    [500, 'JPY', 500],
    [5, 'ISK', 500],
    [5, 'UGX', 500],
    [500, 'MGA', 5],
    [501, 'MGA', null],
    [5120, 'KWD', 5120],
    [5124, 'KWD', null],
  ] as const) {
    t.equal(toStripeAmount(amount, currency), expected, currency)
    if (expected === null) continue
    const back = fromStripeAmount(expected, currency.toLowerCase())
    t.same(back, { amountMinor: amount, currency })
  }
  t.equal(fromStripeAmount(599, 'isk').amountMinor, 5, 'too little is never enough')
  t.same(
    calculatePriceParts(1_000_000, 1_001, {
      serviceFee: 0,
      ...getChargeLimits('KWD'),
    }),
    { offsetMinor: 1_001, serviceFeeMinor: 9, amountMinor: 1_010 },
  )
})

t.test('another amount or currency never marks an order as paid', async (t) => {
  const service = await start(t)
  const { stripe, guest, ann, getStatus, getPayments, getAdminPage } = service
  for (const [index, [options, shown]] of [
    [{ amount: AMOUNT - 1 }, /€53\.89 received, but the order total is €53\.90/],
    [{ amount: AMOUNT + 1 }, /€53\.91 received/],
    [{ currency: 'usd' }, /US\$53\.90 received, but the order total is €53\.90/],
    [{ amount: 0 }, null],
  ].entries() as Iterable<[number, [object, RegExp | null]]>) {
    const id = String(index + 1)
    const { session, path } = await order(service)
    stripe.ledger.pay(session.id, options)
    await waitForEqual(t, async () => (await getPayments(id))[0].status, 'paid')
    t.equal(await getStatus(id), 'pending')
    if (shown === null) continue
    t.match(await getPayments(id), [{ problem: 'differs' }])
    t.match(await getAdminPage(id), shown)
    t.match(await getAdminPage(id), /The payment needs attention/)
    t.match(toText(await guest.get(path)), /We need to check your payment/)
    t.equal((await pay(guest, path)).headers.get('location'), path)
    await cancel(guest, path)
    t.equal(await getStatus(id), 'pending')
    // Another browser session: the cookie of the form leads to the same order.
    service.guest = createGuest(service.url)
  }
  t.equal((await ann.call('GET', '/api/admin/orders?payment=problem')).totalItems, 3)
  t.ok(service.log.some(({ msg }) => msg === 'a payment needs attention'))

  // Accepted by an administrator, returned by another.
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  await waitForEqual(t, async () => (await getPayments('1'))[0].problem, null)
  const refund = await service.ben.post('/admin/orders/2/refund', {})
  t.equal(refund.status, 303)
  t.match(await getPayments('2'), [{ status: 'refunded', problem: null }])
  t.equal(await getStatus('2'), 'pending')
})

t.test('an expired quote is not charged, and an order has one session at a time', async (t) => {
  const service = await start(t)
  const { stripe, guest, ann, getPayments, getStatus } = service
  const form = fillIn(readForm(await guest.get(TRIP)))
  form.set('quote', form.get('quote')?.replace(/..$/, 'xx') ?? '')
  const rejected = await guest.post('/offset', form)
  t.equal(rejected.status, 200)
  t.equal(stripe.ledger.sessions.length, 0)

  // A double click, a reload, the back button and a second tab.
  const fields = fillIn(readForm(await guest.get(TRIP)))
  const responses = await Promise.all([1, 2, 3].map(() => guest.post('/offset', fields)))
  const links = new Set(responses.map(({ headers }) => headers.get('location')))
  t.equal(links.size, 1)
  t.equal(await submit(guest), [...links][0])
  const session = stripe.ledger.getSession(getSessionId([...links][0]))
  const { pathname: path } = new URL(session.cancel_url)
  const tabs = await Promise.all([1, 2, 3].map(() => pay(guest, path)))
  t.ok(tabs.every(({ headers }) => headers.get('location') === session.url))
  t.equal((await ann.call('GET', '/api/admin/orders')).totalItems, 1)
  t.equal((await getPayments()).length, 1)
  t.equal(stripe.ledger.sessions.length, 1)

  // The order changes: what was asked for can no longer be paid.
  await ann.call('PATCH', '/api/admin/orders/1', { amountMinor: 1234 })
  await waitForEqual(t, async () => stripe.ledger.getSession(session.id).status, 'expired')
  const link = (await pay(guest, path)).headers.get('location')
  const next = stripe.ledger.getSession(getSessionId(link))
  t.equal(next.amount_total, 1234)
  stripe.ledger.pay(next.id)
  await waitForEqual(t, getStatus, 'paid')
  t.match(await getPayments(), [{ status: 'paid' }, { status: 'expired' }])
})

/** One or two for the requests, the others in the background, because the order has changed. */
const MAX_READS = 4

const twenty = <T>(request: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 20 }, request))

/** The requests that a fake Stripe receives during a task. */
async function countRequests(stripe: FakeStripe, task: () => Promise<void>): Promise<string[]> {
  const before = stripe.requests.length
  await task()
  return stripe.requests.slice(before).map((request) => request.replace(/(?<=\/)cs_\w+/, 'id'))
}

for (const [engine, getEnvironment] of Object.entries(ENGINES)) {
  t.test(`${engine}: 20 parallel requests about a payment each asked Stripe`, async (t) => {
    const environment = { ...(await getEnvironment()), ORDER_RATE_LIMIT_PER_MINUTE: '1000' }
    const service = await start(t, environment)
    const { stripe, guest, ann, getPayments, getStatus } = service
    stripe.latencyMs = 50
    const { session, path } = await order(service)

    const payments = await countRequests(stripe, async () => {
      for (const { status, headers } of await twenty(() => pay(guest, path))) {
        t.equal(status, 303)
        t.equal(headers.get('location'), session.url)
      }
      t.equal((await pay(guest, path)).headers.get('location'), session.url, 'a moment later')
    })
    t.same(payments, ['GET /v1/checkout/sessions/id'])

    stripe.sender.url = null
    stripe.ledger.pay(session.id)
    const returns = await countRequests(stripe, async () => {
      for (const page of await twenty(() => guest.get(`${path}?payment=done`))) {
        t.equal(page.status, 200)
        t.match(toText(page), /Your credits are being bought/)
      }
    })
    t.ok(returns.length <= MAX_READS, returns.join())

    const refunds = await countRequests(stripe, async () => {
      for (const { status } of await twenty(() => ann.post('/admin/orders/1/refund', {}))) {
        t.equal(status, 303)
      }
    })
    t.equal(refunds.filter((request) => request === 'POST /v1/refunds').length, 1)
    t.ok(refunds.length <= 1 + MAX_READS, refunds.join())
    t.match(await getPayments(), [{ status: 'refunded' }])
    t.equal(await getStatus(), 'refunded')
    const { items } = await ann.call('GET', '/api/admin/audit-log?action=payment.refunded')
    t.equal(items.length, 1, 'the audit log has one refund')

    service.guest = createGuest(service.url)
    const second = await order(service)
    const cancellations = await countRequests(stripe, async () => {
      for (const { status } of await twenty(() => cancel(guest, second.path))) t.equal(status, 303)
    })
    t.equal(cancellations.filter((request) => request.endsWith('/expire')).length, 1)
    t.equal(await getStatus('2'), 'cancelled')
  })
}

t.test('20 parallel requests never fail while Stripe is away', async (t) => {
  const service = await start(t, { ORDER_RATE_LIMIT_PER_MINUTE: '1000' })
  const { stripe, guest, ann, getStatus } = service
  const { session, path } = await order(service)
  stripe.fault = 500
  for (const { status, headers } of await twenty(() => pay(guest, path))) {
    t.equal(status, 303)
    t.match(headers.get('location'), /payment=unavailable$/)
  }
  for (const { status } of await twenty(() => guest.get(`${path}?payment=done`))) {
    t.equal(status, 200)
  }
  stripe.fault = null
  t.equal((await pay(guest, path)).headers.get('location'), session.url, 'no failure is shared')
  stripe.ledger.pay(session.id)
  await waitForEqual(t, getStatus, 'paid')
  stripe.fault = 500
  for (const { status } of await twenty(() => ann.post('/admin/orders/1/refund', {}))) {
    t.equal(status, 503)
  }
})

t.test('events of a payment that arrive together are all processed', async (t) => {
  const service = await start(t)
  const { stripe, getStatus } = service
  const { session } = await order(service)
  stripe.latencyMs = 20
  stripe.ledger.pay(session.id)
  const [event] = stripe.sender.events.slice(-1)
  if (event === undefined) throw new Error('there is no event')
  t.same(new Set(await twenty(() => stripe.sender.send(event))), new Set([204]))
  t.equal(await getStatus(), 'paid')
})

t.test('returning from Stripe had no limit', async (t) => {
  const service = await start(t, { ORDER_RATE_LIMIT_PER_MINUTE: '5' })
  const { guest } = service
  const { path } = await order(service)
  const visit = async (query: string) => (await guest.get(path + query)).status
  const statuses = []
  for (let i = 0; i < 6; i++) statuses.push(await visit('?payment=done'))
  t.same(statuses, [200, 200, 200, 200, 200, 429])
  for (let i = 0; i < 8; i++) t.equal(await visit(''), 200, 'the page itself')
  t.equal(await visit('?payment=stopped'), 200)
  t.equal((await pay(guest, path)).status, 303, 'payment has its own')
})

t.test('a response that is lost leads to the same session', async (t) => {
  const service = await start(t)
  const { stripe, guest, getPayments } = service
  stripe.fault = 'connection_reset_after'
  const away = await submit(guest)
  t.match(away, /^\/o\/[\w-]{22}\?payment=unavailable$/)
  t.match(toText(await guest.get(away)), /Payment is not possible at the moment/)
  t.match(await getPayments(), [{ status: 'open', sessionId: null }])
  stripe.fault = null
  const [path = ''] = away.split('?')
  t.equal(getSessionId((await pay(guest, path)).headers.get('location')).slice(0, 3), 'cs_')
  t.equal(stripe.ledger.sessions.length, 1)
})

t.test('Stripe is away: the order exists, and can be paid later', async (t) => {
  const service = await start(t)
  const { stripe, guest, getStatus, log } = service
  for (const [index, fault] of (['no_response', 500, 429, 401, 400] as const).entries()) {
    stripe.fault = fault
    const startedAt = performance.now()
    const away = await submit(createGuest(service.url))
    t.ok(performance.now() - startedAt < 15_000, `${fault} does not hang`)
    t.match(away, /payment=unavailable$/, String(fault))
    const [path = ''] = away.split('?')
    if (fault !== 'no_response') {
      const cancelled = await cancel(guest, path)
      t.equal(cancelled.headers.get('location'), path, 'it was never payable')
      t.equal(await getStatus(String(index + 1)), 'cancelled')
      continue
    }
    stripe.fault = null
    const session = getSessionId((await pay(guest, path)).headers.get('location'))
    stripe.fault = 'connection_reset'
    const refused = await cancel(guest, path)
    t.equal(refused.headers.get('location'), `${path}?payment=uncancelled`)
    t.match(toText(await guest.get(`${path}?payment=uncancelled`)), /could not be cancelled/)
    stripe.fault = null
    stripe.ledger.pay(session)
    await waitForEqual(t, getStatus, 'paid')
  }
  const text = JSON.stringify(log)
  t.match(text, /Stripe: Something is wrong with the account/)
  t.notMatch(text, stripe.secretKey)
})

t.test('a guest cancels: the session expires first, and a payment wins the race', async (t) => {
  const service = await start(t)
  const { stripe, guest, getStatus, getPayments } = service
  const { session, path } = await order(service)
  await cancel(guest, path)
  t.equal(stripe.ledger.getSession(session.id).status, 'expired')
  t.equal(await getStatus(), 'cancelled')
  t.equal((await pay(guest, path)).headers.get('location'), path)
  t.equal(stripe.ledger.sessions.length, 1)

  service.guest = createGuest(service.url)
  const second = await order(service)
  stripe.sender.url = null
  stripe.ledger.pay(second.session.id)
  await cancel(guest, second.path)
  t.equal(await getStatus('2'), 'paid')
  t.match(await getPayments('2'), [{ status: 'paid' }])

  service.guest = createGuest(service.url)
  const third = await order(service)
  stripe.ledger.pay(third.session.id, { isAsync: true })
  await guest.get(`${third.path}?payment=done`)
  t.match(toText(await guest.get(third.path)), /Your payment is being processed/)
  await cancel(guest, third.path)
  t.equal(await getStatus('3'), 'pending')
})

t.test('a payment of a cancelled order is shown and can be refunded', async (t) => {
  const service = await start(t)
  const { stripe, guest, ann, getStatus, getPayments, getAdminPage } = service
  const { session, path } = await order(service)
  stripe.sender.url = null
  stripe.ledger.pay(session.id)
  await service.guest.get(`${path}?payment=done`)
  t.match(
    toText(await ann.get('/admin/orders/1/cancel')),
    /This leaves €53\.90 paid and not refunded\./,
  )
  await ann.call('DELETE', '/api/admin/orders/1')
  await waitForEqual(t, async () => (await getPayments())[0].problem, 'order_cancelled')
  t.match(await getAdminPage(), /€53\.90 received for a cancelled order/)
  t.match(toText(await guest.get(path)), /We have received your payment and will refund it/)

  const confirmation = await ann.get('/admin/orders/1/refund')
  t.match(toText(confirmation), /Refund €53\.90\?.*You cannot undo this/)
  const dialog = await ann.get('/admin/orders/1/refund', HTMX_HEADERS)
  t.match(dialog.text, /<dialog id="refund-dialog"/)
  await Promise.all([1, 2, 3].map(() => ann.post('/admin/orders/1/refund', {})))
  t.equal(stripe.ledger.refunds.length, 1, 'once')
  t.match(await getPayments(), [{ status: 'refunded', problem: null }])
  const { items } = await ann.call('GET', '/api/admin/audit-log?action=payment.refunded')
  t.match(items[0], {
    actor: ADMIN.email,
    details: { orderId: '1', amountMinor: stripe.ledger.refunds[0]?.amount, currency: 'EUR' },
  })
  t.equal(await getStatus(), 'refunded')
  t.equal((await ann.get('/admin/orders/1/refund')).status, 303)
})

t.test('refunds and disputes are recorded', async (t) => {
  const service = await start(t)
  const { stripe, guest, ann, getStatus, getPayments, getAdminPage } = service
  const { session, path } = await orderAndPay(t, service)
  const intent = session.payment_intent ?? ''

  stripe.ledger.dispute(intent)
  await waitForEqual(t, async () => (await getPayments())[0].dispute, 'needs_response')
  t.match(await getAdminPage(), /The customer disputes the payment/)
  t.equal((await ann.call('GET', '/api/admin/orders?payment=disputed')).totalItems, 1)
  t.equal((await ann.call('GET', '/api/admin/orders?payment=problem')).totalItems, 1)
  t.match(toText(await ann.get('/admin')), '1 with a payment problem')
  const [dispute] = stripe.ledger.disputes
  if (dispute === undefined) throw new Error('no dispute')
  stripe.ledger.disputes.unshift({ ...dispute, id: `${dispute.id}2`, status: 'won' })
  await sendEvents(stripe)
  t.equal((await getPayments())[0].dispute, 'needs_response', 'another one is open')
  stripe.ledger.dispute(intent, 'won')
  stripe.ledger.disputes.forEach((each) => (each.status = 'won'))
  await waitForEqual(t, async () => (await getPayments())[0].dispute, 'won')
  t.notMatch(await getAdminPage(), /disputes the payment/)
  t.notMatch(toText(await ann.get('/admin')), 'payment problem')

  stripe.ledger.refund(intent, 1000)
  await waitForEqual(t, async () => (await getPayments())[0].status, 'partially_refunded')
  t.equal(await getStatus(), 'paid')
  t.match(
    toText(await guest.get(path)),
    /Part of your payment was refunded We have refunded €10\.00 of the €\d+\.\d\d that you paid.*Refunded €10\.00/,
  )

  const page = await ann.get('/admin/orders/1')
  t.notMatch(page.text, /Mark as refunded/, 'only with the money')
  t.match(findLink(page, 'Refund €43.90…'), /^\/admin\/orders\/1\/refund\?payment=/)
  const list = await ann.post('/admin/orders/bulk', {
    order: `1:${(await service.getOrder()).version}`,
    action: 'refunded',
    confirmed: '1',
  })
  t.match(toText(list), /CW-000001: paid through Stripe; refund the payment/)
  t.equal(await getStatus(), 'paid')

  stripe.fault = 400
  t.equal((await ann.post('/admin/orders/1/refund', {})).status, 409)
  stripe.fault = 'connection_reset_after'
  t.match(toText(await ann.post('/admin/orders/1/refund', {})), /couldn’t confirm/)
  stripe.fault = null
  const done = await ann.post('/admin/orders/1/refund', {})
  t.equal(stripe.ledger.refunds.length, 2)
  t.equal(done.status, 303, 'the first one has worked')
  await waitForEqual(t, getStatus, 'refunded')
  t.match(toText(await guest.get(path)), /Your payment was refunded Your payment has been refunded/)
})

t.test('an undo hid that Stripe had received or returned the money', async (t) => {
  const service = await start(t)
  const { stripe, ann, getStatus, getOrder } = service
  await orderAndPay(t, service)
  const undo = async () => {
    const { version } = await getOrder()
    return ann.post('/admin/orders/1/restore', { version: String(version) })
  }
  const undoInBulk = async () => {
    const { version } = await getOrder()
    const fields = { order: `1:${version}`, action: 'undo', list: '' }
    return toText(await ann.post('/admin/orders/bulk', fields))
  }
  const paid = await undo()
  t.equal(paid.status, 409)
  t.match(
    toText(paid),
    /Stripe has received the money; refund the payment instead\. Nothing was changed/,
  )
  t.match(await undoInBulk(), /Stripe has received the money/)
  t.equal(await getStatus(), 'paid')

  // Marked by mistake: Stripe still has the money.
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'refunded' })
  t.equal((await undo()).status, 303)
  t.equal(await getStatus(), 'paid')

  await ann.post('/admin/orders/1/refund', {})
  t.equal(await getStatus(), 'refunded')
  stripe.fault = 500
  const refunded = await undo()
  t.equal(refunded.status, 409)
  t.match(toText(refunded), /Stripe has returned the money/)
  t.match(await undoInBulk(), /Stripe has returned the money/)
  t.equal(await getStatus(), 'refunded')
})

t.test('a refund whose response was lost was not in the audit log', async (t) => {
  const service = await start(t)
  const { stripe, ann, getStatus } = service
  await orderAndPay(t, service)
  stripe.sender.url = null
  stripe.fault = 'connection_reset_after'
  t.equal((await ann.post('/admin/orders/1/refund', {})).status, 503)
  stripe.fault = null
  t.equal((await ann.post('/admin/orders/1/refund', {})).status, 303)
  t.equal(await getStatus(), 'refunded')
  t.equal(stripe.ledger.charges.filter(({ refunded }) => refunded).length, 1)
  const log = await ann.call('GET', '/api/admin/audit-log?action=payment.refunded')
  t.match(log.items.at(-1), {
    details: { orderId: '1', amountMinor: AMOUNT, currency: 'EUR', outcome: 'unknown' },
  })
})

t.test('payments that take days, fail or expire', async (t) => {
  const service = await start(t)
  const { stripe, guest, getStatus, getPayments } = service
  const first = await order(service)
  stripe.ledger.pay(first.session.id, { isAsync: true })
  await waitForEqual(t, async () => (await getPayments())[0].status, 'processing')
  stripe.ledger.settle(first.session.id, false)
  await waitForEqual(t, async () => (await getPayments())[0].status, 'failed')
  t.match(toText(await guest.get(first.path)), /Your payment failed No money was taken/)

  const link = (await pay(guest, first.path)).headers.get('location')
  const second = getSessionId(link)
  stripe.ledger.expire(second)
  await waitForEqual(t, async () => (await getPayments())[0].status, 'expired')
  t.match(toText(await guest.get(first.path)), /The payment page has expired/)

  const third = getSessionId((await pay(guest, first.path)).headers.get('location'))
  stripe.ledger.pay(third, { isAsync: true })
  stripe.ledger.settle(third, true)
  await waitForEqual(t, getStatus, 'paid')
  t.equal((await getPayments()).length, 3)
})

t.test('the webhook may come before the session is known, and from other shops', async (t) => {
  const service = await start(t)
  const { stripe, getStatus, getPayments, guest } = service
  stripe.fault = 'connection_reset_after'
  await submit(guest)
  stripe.fault = null
  const [session] = stripe.ledger.sessions
  t.match(await getPayments(), [{ sessionId: null }])
  stripe.ledger.pay(session?.id ?? '')
  await waitForEqual(t, getStatus, 'paid')

  const other = stripe.ledger.createSession(
    {
      amount_total: 100,
      currency: 'eur',
      client_reference_id: null,
      customer_email: null,
      metadata: {},
      success_url: 'https://shop.example/',
      cancel_url: 'https://shop.example/',
    },
    () => stripe.url,
  )
  stripe.ledger.pay(other.id)
  stripe.ledger.refund(other.payment_intent ?? '', null)
  for (const event of stripe.sender.events) t.equal(await stripe.sender.send(event), 204)
})

t.test('webhooks are accepted only with a signature of Stripe', async (t) => {
  const { stripe, environment } = await startStripe(t)
  const { url } = await startApp(t, { ...PRICE, ...environment })
  const body = JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type: 'checkout.session.completed',
    data: { object: { object: 'checkout.session', id: 'cs_test_1' } },
  })
  const now = Math.floor(Date.now() / 1000)
  const send = async (signature: string | null, text = body, type = 'application/json') => {
    const headers: Record<string, string> = { 'content-type': type }
    if (signature !== null) headers['stripe-signature'] = signature
    const response = await fetch(getWebhookUrl(url), { method: 'POST', headers, body: text })
    return response.status
  }
  const secret = stripe.webhookSecret
  t.equal(await send(signWebhook(body, secret)), 204)
  t.equal(await send(signWebhook(body, secret, now - 290)), 204)
  t.equal(await send(signWebhook(body, secret, now + 290)), 204)
  const hmac = createHmac('sha256', secret).update(body).digest('hex')
  for (const signature of [
    null,
    '',
    signWebhook(body, 'whsec_other'),
    signWebhook(body, secret, now - 400),
    signWebhook(body, secret, now + 400),
    `t=${now},${signWebhook(body, secret, now + 400)}`,
    signWebhook(body, secret, NaN),
    signWebhook(`${body} `, secret),
    `t=${now},v1=${hmac}`,
    `t=${now},v0=${hmac}`,
    'nonsense',
  ]) {
    t.equal(await send(signature), 400, String(signature))
  }
  t.equal(await send(signWebhook('{', secret), '{'), 400)
  t.equal(await send(signWebhook(body, secret), body, 'text/plain'), 415)
  stripe.fault = 500
  const event = body.replace('cs_test_1', 'cs_test_2').replace('}}}', ',"payment_intent":"pi_1"}}}')
  const charge = event.replace('"object":"checkout.session"', '"object":"charge"')
  t.equal(await send(signWebhook(charge, secret), charge), 503, 'Stripe sends it again')

  const { url: without } = await startApp(t, PRICE)
  const response = await fetch(getWebhookUrl(without), { method: 'POST', body })
  t.ok(response.status === 404 || response.status === 415)
})

t.test('a start without the keys of Stripe is refused', async (t) => {
  const { environment } = await startStripe(t)
  for (const [changes, message] of [
    [{ STRIPE_SECRET_KEY: '' }, /STRIPE_SECRET_KEY is required with PAYMENT=stripe/],
    [{ STRIPE_WEBHOOK_SECRET: ' ' }, /STRIPE_WEBHOOK_SECRET is required with PAYMENT=stripe/],
    [{ STRIPE_SECRET_KEY: 'pk_live_1' }, /STRIPE_SECRET_KEY must be a secret or restricted key/],
    [{ STRIPE_WEBHOOK_SECRET: 'sk_1' }, /STRIPE_WEBHOOK_SECRET must be a signing secret/],
    [{ STRIPE_API_URL: 'http://example.com' }, /STRIPE_API_URL must be an https URL/],
    [{ STRIPE_CHECKOUT_URL: 'https://a.example/x' }, /STRIPE_CHECKOUT_URL must be/],
    [{ PAYMENT: 'invoice', STRIPE_SECRET_KEY: '' }, /STRIPE_SECRET_KEY is required with the other/],
  ] as const) {
    await t.rejects(startApp(t, { ...environment, ...changes }), message)
  }
})

t.test('payments go on after the operator has changed to invoices', async (t) => {
  const dataDir = temporaryFolder(t)
  const service = await start(t, { DATA_DIR: dataDir })
  const { stripe } = service
  const { session, path } = await order(service)
  await service.app.close()
  const next = await startTwoAdmins(t, {
    ...PRICE,
    DATA_DIR: dataDir,
    STRIPE_SECRET_KEY: stripe.secretKey,
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    STRIPE_API_URL: stripe.url,
    STRIPE_CHECKOUT_URL: stripe.url,
  })
  sendWebhooks(stripe, next.url)
  const guest = createGuest(next.url)
  t.match(toText(await guest.get(path)), /Pay €53\.90/)
  t.match(toText(await guest.get(TRIP)), /You will pay by invoice/)
  stripe.ledger.pay(session.id)
  await waitFor(async () => (await next.ann.call('GET', '/api/admin/orders/1')).status === 'paid')
  await next.app.close()

  // Without Stripe the payment is still shown, but cannot be refunded here.
  const last = await startTwoAdmins(t, { ...PRICE, DATA_DIR: dataDir })
  const page = await last.ann.get('/admin/orders/1')
  t.match(toText(page), `Session ${session.id}`)
  t.notMatch(page.text, /Refund €/)
  await last.ann.post('/admin/orders/1/refund', {})
  t.equal(stripe.ledger.refunds.length, 0)
})

t.test('no secret and no page of Stripe is stored', async (t) => {
  const dataDir = temporaryFolder(t)
  const service = await start(t, { DATA_DIR: dataDir })
  await order(service)
  await service.app.close()
  const db = new Database(join(dataDir, 'orders.db'), { readonly: true })
  const rows = JSON.stringify(db.prepare('SELECT * FROM payments').all())
  db.close()
  t.notMatch(rows, /sk_test|whsec|http/)
})

t.test('a payment that cannot be checked delays no other', async (t) => {
  const service = await start(t, { STRIPE_CHECK_INTERVAL: '0.1' })
  const { app, stripe, getStatus } = service
  stripe.sender.url = null
  await app.database.query(
    `CREATE TRIGGER poison BEFORE UPDATE ON payments
     WHEN new.order_id = '1' AND new.state = 'paid' BEGIN SELECT RAISE(ABORT, 'poison'); END`,
  )
  const orders = [await order(service), await order(service, '/offset?type=custom&amount=3&unit=t')]
  for (const { session } of orders) stripe.ledger.pay(session.id)
  await waitForEqual(t, () => getStatus('2'), 'paid')
  t.equal(await getStatus('1'), 'pending')
  await app.database.query('DROP TRIGGER poison')
  await waitForEqual(t, () => getStatus('1'), 'paid')
})

t.test('a payment that was refunded in part, or is disputed, settled an order', async (t) => {
  const service = await start(t)
  const { stripe, ann, getStatus, getPayments, getAdminPage } = service
  const cases: [(intent: string) => void, RegExp][] = [
    [(intent) => stripe.ledger.refund(intent, 1000), /€53\.90 received, of which €10\.00 was refu/],
    [(intent) => stripe.ledger.dispute(intent), /€53\.90 received, but the order is not marked/],
  ]
  for (const [index, [change, shown]] of cases.entries()) {
    const id = String(index + 1)
    stripe.sender.url = null
    const { session } = await order(service)
    stripe.ledger.pay(session.id)
    change(session.payment_intent ?? '')
    sendWebhooks(stripe, service.url)
    await sendEvents(stripe)
    await waitForEqual(t, async () => (await getPayments(id))[0].problem, 'differs')
    t.equal(await getStatus(id), 'pending')
    t.match(await getAdminPage(id), shown)
    service.guest = createGuest(service.url)
  }
  t.equal((await ann.call('GET', '/api/admin/orders?status=paid')).totalItems, 0)
})

t.test('a payment of a reopened order, or a disputed one, bought credits', async (t) => {
  const provider = await startProvider(t)
  const service = await start(t, autoFulfil(provider))
  const { stripe, ann, app, getStatus, getPayments, getAdminPage } = service
  const waitForStop = (id: string) =>
    waitFor(async () => {
      const page = await getAdminPage(id)
      return page.includes('Automatic placement stopped') && page
    })

  // A debit arrives after the cancellation.
  const late = await order(service)
  stripe.ledger.pay(late.session.id, { isAsync: true })
  await waitForEqual(t, async () => (await getPayments())[0].status, 'processing')
  const { version } = await ann.call('DELETE', '/api/admin/orders/1')
  stripe.ledger.settle(late.session.id, true)
  await waitForEqual(t, async () => (await getPayments())[0].problem, 'order_cancelled')
  await ann.post('/admin/orders/1/restore', { version: String(version) })
  await waitForEqual(t, getStatus, 'paid', 'the money is here')
  t.match(await waitForStop('1'), /The order was cancelled or refunded before\./)

  for (const [id, change, reason] of [
    ['2', (intent: string) => stripe.ledger.dispute(intent), /the customer’s bank disputes/],
    ['3', (intent: string) => stripe.ledger.refund(intent, 1000), /was refunded in part/],
  ] as const) {
    service.guest = createGuest(service.url)
    provider.fault = 503
    const { session } = await order(service)
    stripe.ledger.pay(session.id)
    await waitForEqual(t, () => getStatus(id), 'paid')
    await waitFor(async () => (await getAdminPage(id)).includes('The provider cannot be reached.'))
    const { length } = stripe.sender.events
    change(session.payment_intent ?? '')
    await waitFor(async () => stripe.sender.events.length > length)
    await waitForEqual(
      t,
      async () => {
        const [payment] = await getPayments(id)
        return payment.dispute !== null || payment.refundedMinor > 0
      },
      true,
    )
    provider.fault = null
    await skipPauses(app)
    t.match(await waitForStop(id), reason)
  }
  t.equal(provider.ledger.orders.length, 0)
})

t.test('a refund was announced while a debit was on its way', async (t) => {
  const service = await startWithMail(t)
  const { stripe, ann, app, getPayments, getOrder } = service
  const { session } = await order(service)
  stripe.ledger.pay(session.id, { isAsync: true })
  await waitForEqual(t, async () => (await getPayments())[0].status, 'processing')
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const bulk = { action: 'refunded', order: `1:${(await getOrder()).version}`, confirmed: '1' }
  t.match(toText(await ann.post('/admin/orders/bulk', bulk)), /paid through Stripe; refund/)
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'refunded' })
  const readMails = () =>
    app.database.query("SELECT type, state FROM outbox WHERE type = 'order_refunded'")
  await waitForEqual(t, readMails, [{ type: 'order_refunded', state: 'cancelled' }])
})

t.test('a refund was made of another payment than the dialog showed', async (t) => {
  const service = await start(t)
  const { stripe, guest, ann, app, getStatus, getPayments } = service
  const first = await order(service)
  stripe.sender.url = null
  stripe.ledger.pay(first.session.id, { amount: AMOUNT + 10 })
  await app.database.query("UPDATE payments SET state = 'failed'")
  const link = (await pay(guest, first.path)).headers.get('location')
  sendWebhooks(stripe, service.url)
  stripe.ledger.pay(getSessionId(link))
  await waitForEqual(t, getStatus, 'paid')
  await sendEvents(stripe)
  t.match(await getPayments(), [{ problem: null }, { problem: 'paid_twice' }])

  const page = await ann.get('/admin/orders/1')
  const refund = findLink(page, 'Refund €54.00…')
  t.not(refund, findLink(page, 'Refund €53.90…'))
  t.match(toText(await ann.get(refund)), /Refund €54\.00\?/)
  t.match(toText(await ann.get('/admin/orders/1/refund')), /Refund €54\.00\?/, 'the problem first')
  t.equal((await ann.post(refund, {})).status, 303)
  t.match(await getPayments(), [{ status: 'paid' }, { status: 'refunded', problem: null }])
  t.equal(await getStatus(), 'paid')
  await ann.post(refund, {})
  await ann.post('/admin/orders/1/refund?payment=unknown', {})
  t.equal(stripe.ledger.refunds.length, 1)
})

t.test('emails named amounts that Stripe had not received or returned', async (t) => {
  const service = await startWithMail(t)
  const { smtp, stripe, ann, getStatus, getPayments } = service
  const { session } = await order(service)
  stripe.ledger.pay(session.id, { amount: AMOUNT - 390 })
  await waitForEqual(t, async () => (await getPayments())[0].problem, 'differs')
  const findMail = (subject: string) =>
    waitFor(async () =>
      smtp.mails.find(({ headers }) => headers.get('subject')?.toString().startsWith(subject)),
    )
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  t.match((await findMail('Payment received')).text, 'We have received your payment of €50.00.')
  stripe.ledger.refund(session.payment_intent ?? '', null)
  await waitForEqual(t, getStatus, 'refunded')
  t.match(
    (await findMail('Order CW-000001 was refunded')).text,
    'We have refunded your payment of €50.00.',
  )
})

const refundsWithoutWebhook = {
  'credits were bought after a refund whose webhook was lost': '',
  'credits were bought after a refund if the service had stopped before it settled the payment':
    'UPDATE payments SET settled_at = NULL',
}
for (const [title, sql] of Object.entries(refundsWithoutWebhook)) {
  t.test(title, async (t) => {
    const provider = await startProvider(t)
    const service = await start(t, autoFulfil(provider))
    const { stripe, app, getStatus, getAdminPage } = service
    const { session } = await order(service)
    provider.fault = 503
    stripe.ledger.pay(session.id)
    await waitForEqual(t, getStatus, 'paid')
    await waitFor(async () => (await getAdminPage()).includes('The provider cannot be reached.'))
    stripe.sender.url = null
    if (sql !== '') await app.database.query(sql)
    stripe.ledger.refund(session.payment_intent ?? '', null)
    stripe.fault = 500
    provider.fault = null
    await skipPauses(app)
    await settle()
    t.equal(provider.ledger.orders.length, 0, 'Stripe is unavailable')
    stripe.fault = null
    await skipPauses(app)
    await waitForEqual(t, getStatus, 'refunded')
    await skipPauses(app)
    await settle()
    t.equal(provider.ledger.orders.length, 0)
  })
}

t.test('staff bought credits without being told about the payment', async (t) => {
  const provider = await startProvider(t)
  const service = await start(t, { ...autoFulfil(provider), AUTO_FULFIL: 'false' })
  const { stripe, ann, getStatus } = service
  const { session } = await orderAndPay(t, service)
  const open = () => ann.get('/admin/orders/1/fulfilment?portfolio=1')
  const place = async (form: URLSearchParams) =>
    (await ann.post('/admin/orders/1/fulfilment', form)).status
  const before = readForm(await open())

  stripe.sender.url = null
  stripe.ledger.dispute(session.payment_intent ?? '')
  t.equal(await place(before), 409, 'disputed after the dialog was opened')
  t.equal(provider.ledger.orders.length, 0)
  const dialog = await open()
  t.match(
    toText(dialog),
    /should not be bought, because the customer’s bank disputes the payment\./,
  )
  stripe.fault = 500
  t.equal(await place(readForm(dialog)), 503, 'Stripe cannot be asked')
  stripe.fault = null

  stripe.ledger.refund(session.payment_intent ?? '', null)
  await place(readForm(dialog))
  t.equal(await getStatus(), 'refunded')
  t.equal(provider.ledger.orders.length, 0, 'refunded meanwhile')
})

t.test('more was refunded than the dialog showed', async (t) => {
  const service = await start(t)
  const { stripe, ann, getPayments } = service
  const { session } = await orderAndPay(t, service)
  stripe.ledger.refund(session.payment_intent ?? '', 1000)
  await waitForEqual(t, async () => (await getPayments())[0].status, 'partially_refunded')
  const form = readForm(await ann.get('/admin/orders/1/refund'))
  t.equal(form.get('amountMinor'), String(AMOUNT - 1000))
  for (const charge of stripe.ledger.charges) charge.amount_refunded = 0 // the refund has failed
  const page = await ann.post('/admin/orders/1/refund', form)
  t.equal(page.status, 409)
  t.match(toText(page), /The payment has changed Nothing was refunded\./)
  t.equal(stripe.ledger.refunds.length, 1)
})

t.test('a payment of another amount, accepted by staff, bought credits', async (t) => {
  const provider = await startProvider(t)
  const service = await start(t, autoFulfil(provider))
  const { stripe, ann, getPayments, getAdminPage } = service
  for (const [index, [amount, refunded, reason]] of [
    [1_000, 0, /another amount was paid than the order total/],
    [AMOUNT, 4_000, /the payment was refunded in part or in full/],
  ].entries() as Iterable<[number, [number, number, RegExp]]>) {
    const id = String(index + 1)
    service.guest = createGuest(service.url)
    stripe.sender.url = null
    const { session } = await order(service)
    stripe.ledger.pay(session.id, { amount })
    if (refunded > 0) stripe.ledger.refund(session.payment_intent ?? '', refunded)
    sendWebhooks(stripe, service.url)
    await sendEvents(stripe)
    await waitForEqual(t, async () => (await getPayments(id))[0].problem, 'differs')
    await ann.call('PATCH', `/api/admin/orders/${id}`, { status: 'paid' })
    await waitFor(async () => (await getAdminPage(id)).includes('Automatic placement stopped'))
    t.match(await getAdminPage(id), reason)
  }
  t.equal(provider.ledger.orders.length, 0)
})

t.test('emails named a payment that had been returned before the order was paid', async (t) => {
  const service = await startWithMail(t)
  const { smtp, stripe, ann, getPayments } = service
  const { session } = await order(service)
  stripe.ledger.pay(session.id, { amount: 1_000 })
  await waitForEqual(t, async () => (await getPayments())[0].problem, 'differs')
  await ann.post('/admin/orders/1/refund', {})
  await waitForEqual(t, async () => (await getPayments())[0].status, 'refunded')
  await ann.call('PATCH', '/api/admin/orders/1', { status: 'paid' })
  const received = await waitFor(async () =>
    smtp.mails.find(({ headers }) => headers.get('subject')?.toString().startsWith('Payment')),
  )
  t.match(received.text, 'We have received your payment of €53.90.')
})
