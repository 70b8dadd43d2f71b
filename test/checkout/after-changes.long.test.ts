import t, { type Test } from 'tap'
import type { TestApp } from '../support/app.js'
import {
  autoFulfil,
  getOrder,
  startAutoFulfilment,
  startProvider,
  waitForCertificate,
  waitForStatus,
} from '../support/guest-orders.js'
import { createGuest, fillIn, findLink, placeOrder, readForm, toText } from '../support/guest.js'
import { mailEnvironment, skipPauses } from '../support/mail-service.js'
import { RETIREMENT } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.js'
import { getSessionId, sendWebhooks, startStripe } from '../support/stripe.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'

// What is bought, certified and said after an order was changed by hand, or paid in an unusual way.

const ORDER = '/api/admin/orders/1'
const WITHOUT_PURCHASES = { AUTO_FULFIL: 'false' }

/** Starts a service with Stripe and a provider, and a guest whose order can be paid. */
async function startOnlineOrder(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const { stripe, environment: stripeEnvironment } = await startStripe(t, 1_000_000)
  const provider = await startProvider(t)
  const service = await startTwoAdmins(t, {
    ...autoFulfil(provider),
    SERVICE_FEE_PERCENT: '10',
    ...stripeEnvironment,
    ...environment,
  })
  sendWebhooks(stripe, service.url)
  const guest = createGuest(service.url)
  const form = readForm(await guest.get('/offset?type=custom&amount=2&unit=t'))
  const { headers } = await guest.post('/offset', fillIn(form))
  const session = stripe.ledger.getSession(getSessionId(headers.get('location')))
  const readPayment = async () => {
    const { items } = (await service.ann.call('GET', `${ORDER}/payments`)) as {
      items: Record<string, unknown>[]
    }
    return items[0] ?? {}
  }
  const path = new URL(session.cancel_url).pathname
  return { ...service, provider, stripe, guest, session, path, readPayment }
}

type Page = Parameters<typeof toText>[0]

/** Waits until what follows from all changes of orders has been processed. */
const waitForConsequences = ({ app }: Pick<TestApp, 'app'>): Promise<unknown> =>
  waitFor(async () => {
    const sql = `SELECT (SELECT count(*) FROM order_events) + (SELECT count(*) FROM outbox
      WHERE state = 'pending') AS waiting`
    const [row] = await app.database.query<{ waiting: number }>(sql)
    return row?.waiting === 0
  })

const waitForText = (get: () => Promise<Page>, text: RegExp): Promise<unknown> =>
  waitFor(async () => text.test(toText(await get())))

t.test('no credits are bought for a payment that was refunded', async (t) => {
  const environment = await mailEnvironment(await startSmtpServer(t))
  const { stripe, provider, ann, app, session, readPayment } = await startOnlineOrder(
    t,
    environment,
  )
  stripe.sender.url = null // The webhook is late.
  stripe.ledger.pay(session.id)
  provider.fault = 503
  await ann.call('PATCH', ORDER, { status: 'paid' })
  await waitFor(async () => (await readPayment()).problem === 'paid_twice')
  t.match(toText(await ann.get('/admin/orders/1')), 'had already been marked as paid')
  t.notMatch(toText(await ann.get('/admin/orders/1/refund')), 'This emails', 'the order stays paid')
  t.equal((await ann.post('/admin/orders/1/refund', {})).status, 303)
  t.match(await readPayment(), { status: 'refunded', problem: null })
  provider.fault = null
  await skipPauses(app)
  await waitForText(() => ann.get('/admin/orders/1'), /the payment was refunded in part or in full/)
  t.equal(provider.ledger.orders.length, 0)
})

t.test('no credits are bought while a bank debit is on its way', async (t) => {
  const { stripe, provider, ann, session, readPayment } = await startOnlineOrder(t)
  stripe.ledger.pay(session.id, { isAsync: true })
  await waitFor(async () => (await readPayment()).status === 'processing')
  await ann.call('PATCH', ORDER, { status: 'paid' })
  await waitForText(() => ann.get('/admin/orders/1'), /the payment is still being processed/)
  t.equal(provider.ledger.orders.length, 0)
})

t.test('staff read that marking orders as paid buys their credits', async (t) => {
  const { ann, guest } = await startAutoFulfilment(t)
  await placeOrder(guest)
  const purchase = 'A purchase cannot be undone.'
  t.match(toText(await ann.get('/admin/orders/1')), `This buys the credits. ${purchase}`)
  const dialog = toText(await ann.post('/admin/orders/bulk', { action: 'paid', order: '1:1' }))
  t.match(dialog, `This buys the credits of 1 order. ${purchase}`)
  t.equal((await getOrder(ann, '1')).status, 'pending')
  await ann.post('/admin/orders/bulk', { action: 'paid', order: '1:1', confirmed: '' })
  await waitForStatus(ann, '1', 'fulfilled')
})

t.test('an order that was changed during its purchase is not marked as fulfilled', async (t) => {
  const service = await startAutoFulfilment(t, { ORDERSOURCE_TIMEOUT_MS: '400' })
  const { provider, ann, guest } = service
  await placeOrder(guest)
  provider.fault = 'no_response_after_order'
  await ann.call('PATCH', ORDER, { status: 'paid' })
  await waitForText(() => ann.get('/admin/orders/1'), /Placement status unknown/)
  await ann.call('PATCH', ORDER, { co2eKg: 3000, amountMinor: 9000 })
  provider.fault = null
  await waitFor(async () => (await getOrder(ann, '1')).orderSourceId !== null)
  await waitForConsequences(service)
  await waitForText(() => ann.get('/admin/orders/1'), /The CO₂e of the order has changed/)
  t.equal((await getOrder(ann, '1')).status, 'processing')
})

t.test('a certificate lists the projects of the portfolio that was bought', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t)
  const path = await placeOrder(guest)
  await ann.call('PATCH', ORDER, { status: 'paid' })
  const before = await waitForCertificate(guest, path)
  const [first] = provider.portfolios
  const [project] = first?.projects ?? []
  if (first === undefined || project === undefined) throw new Error('no portfolio')
  const projects = [{ ...project, name: 'Closed coal plant' }]
  provider.portfolios.splice(0, 1, { ...first, name: 'Coal phase-out', projects })
  await ann.call('PATCH', ORDER, { retirement: RETIREMENT })
  const after = await waitFor(async () => {
    const link = findLink(await guest.get(path), 'View the page')
    return link !== '' && link !== before && link
  })
  const text = toText(await guest.get(after))
  t.match(text, project.name, 'as first certified')
  t.notMatch(text, 'Closed coal plant')
})

t.test('a certificate does not name a portfolio that was not bought', async (t) => {
  const { provider, ann, guest } = await startAutoFulfilment(t)
  const path = await placeOrder(guest)
  provider.portfolios.shift()
  await ann.call('PATCH', ORDER, { status: 'paid' })
  await waitForText(() => ann.get('/admin/orders/1'), /Automatic placement stopped/)
  await ann.call('PATCH', ORDER, { retirement: RETIREMENT })
  const text = toText(await guest.get(await waitForCertificate(guest, path)))
  t.notMatch(text, 'Harbour Mix')
  t.match(text, /[Cc]arbon credits for 2,000 kg of CO₂e/)
})

t.test('a corrected mass replaces the certificate of an entered retirement', async (t) => {
  const { ann, guest } = await startAutoFulfilment(t, WITHOUT_PURCHASES)
  const path = await placeOrder(guest)
  await ann.call('PATCH', ORDER, { status: 'fulfilled', retirement: RETIREMENT })
  const before = await waitForCertificate(guest, path)
  await ann.call('PATCH', ORDER, { co2eKg: 1000 })
  const after = await waitFor(async () => {
    const link = findLink(await guest.get(path), 'View the page')
    return link !== '' && link !== before && link
  })
  t.match(toText(await guest.get(after)), /[Cc]arbon credits for 1,000 kg of CO₂e/)
  t.notMatch(toText(await guest.get(before)), 'carbon credits for 2,000 kg of CO₂e')
})

t.test('a receipt does not state a mass that was not priced', async (t) => {
  const smtp = await startSmtpServer(t)
  const environment = { ...(await mailEnvironment(smtp)), ...WITHOUT_PURCHASES }
  const { stripe, ann, guest, session, path } = await startOnlineOrder(t, environment)
  t.match(toText(await guest.get(path)), /Carbon credits for 2,000 kg of CO₂e US\$47\.80/)
  await ann.call('PATCH', ORDER, { co2eKg: 3000 })
  const page = toText(await guest.get(path))
  t.notMatch(page, 'US$47.80')
  t.notMatch(page, '100% of the trip')
  t.match(page, 'US$52.58')
  stripe.ledger.pay(session.id)
  const mail = await waitFor(async () =>
    smtp.mails.find(({ headers }) => headers.get('subject')?.startsWith('Payment received')),
  )
  t.notMatch(mail.text, 'US$47.80')
})

t.test('a receipt says what was paid if the total is changed later', async (t) => {
  const { stripe, ann, guest, session, path } = await startOnlineOrder(t, WITHOUT_PURCHASES)
  stripe.ledger.pay(session.id)
  await waitForStatus(ann, '1', 'paid')
  t.notMatch(toText(await guest.get(path)), 'Paid US$52.58')
  await ann.call('PATCH', ORDER, { amountMinor: 999_900 })
  t.match(toText(await guest.get(path)), 'Total US$9,999.00 Paid US$52.58')
})

t.test('nobody is promised the money that a bank has taken back', async (t) => {
  const service = await startOnlineOrder(t, WITHOUT_PURCHASES)
  const { stripe, ann, guest, session, path, readPayment } = service
  stripe.ledger.pay(session.id)
  await waitForStatus(ann, '1', 'paid')
  stripe.ledger.dispute(session.payment_intent ?? '', 'lost')
  await waitFor(async () => (await readPayment()).dispute === 'lost')
  await ann.call('DELETE', ORDER)
  t.notMatch(toText(await guest.get(path)), 'will refund it')
  await ann.call('PATCH', ORDER, { status: 'refunded' })
  await waitForConsequences(service)
  t.notMatch(toText(await ann.get('/admin/orders/1')), 'Stripe still has the money')
  t.match(await readPayment(), { problem: null })
})

t.test('a guest does not read about a refund that Stripe has not made', async (t) => {
  const { stripe, ann, guest, session, path } = await startOnlineOrder(t, WITHOUT_PURCHASES)
  stripe.ledger.pay(session.id)
  await waitForStatus(ann, '1', 'paid')
  await ann.call('PATCH', ORDER, { status: 'refunded' })
  t.match(toText(await guest.get(path)), /Your refund is in progress .*will refund it/)
  t.equal((await ann.post('/admin/orders/1/refund', {})).status, 303)
  t.match(toText(await guest.get(path)), 'Your payment has been refunded.')
})

t.test('an order can be placed again at once after it was cancelled', async (t) => {
  const { ann, guest } = await startAutoFulfilment(t)
  const path = await placeOrder(guest)
  await guest.post(`${path}/cancel`, new URLSearchParams())
  const form = fillIn(readForm(await guest.get(findLink(await guest.get(path), 'Order again'))))
  const { headers } = await guest.post('/offset', form)
  t.not(headers.get('location'), path)
  const repeated = await guest.post('/offset', form)
  t.equal(repeated.headers.get('location'), headers.get('location'), 'once for each form')
  t.match(await ann.call('GET', '/api/admin/orders'), { totalItems: 2 })
})

t.test('a guest cannot cancel an order whose credits are bought', async (t) => {
  const { ann, guest, provider } = await startAutoFulfilment(t)
  const path = await placeOrder(guest)
  const form = readForm(await ann.get('/admin/orders/1/fulfilment?portfolio=1'))
  await ann.post('/admin/orders/1/fulfilment', form)
  t.equal(provider.ledger.orders.length, 1)
  t.notMatch(toText(await guest.get(path)), 'Cancel order')
  await guest.post(`${path}/cancel`, new URLSearchParams())
  t.equal((await getOrder(ann, '1')).status, 'pending')
})

t.test('the email about a certificate is sent if an undo is undone', async (t) => {
  const smtp = await startSmtpServer(t)
  const provider = await startProvider(t)
  const { ann, url, app } = await startTwoAdmins(t, {
    ...autoFulfil(provider),
    ...(await mailEnvironment(smtp)),
    ...WITHOUT_PURCHASES,
    MAIL_HOLD_SECONDS: '2',
  })
  const guest = createGuest(url)
  const path = await placeOrder(guest)
  await ann.call('PATCH', ORDER, { status: 'fulfilled', retirement: RETIREMENT })
  await waitForCertificate(guest, path)
  const { version } = await getOrder(ann, '1')
  await ann.post('/admin/orders/1/restore', { version: String(version) })
  const readState = async () => {
    const sql = "SELECT state FROM outbox WHERE type = 'certificate_ready'"
    return (await app.database.query<{ state: string }>(sql)).map(({ state }) => state)
  }
  await waitFor(async () => (await readState())[0] === 'cancelled')
  await ann.call('PATCH', ORDER, { status: 'fulfilled' })
  await waitFor(async () => (await readState())[0] === 'sent')
  t.ok(smtp.mails.some(({ headers }) => headers.get('subject')?.includes('certificate')))
})

/** Waits for the emails to guests with these subjects, and for no others. */
async function waitForSubjects(t: Test, smtp: TestSmtpServer, subjects: readonly string[]) {
  const read = () => smtp.mails.map(({ headers }) => headers.get('subject')).toSorted()
  await waitForEqual(t, async () => read(), subjects.toSorted())
}

const RECEIVED = 'Order CW-000001 received'
const PAID = 'Payment received for order CW-000001'
const REFUNDED = 'Order CW-000001 was refunded'

t.test('a refund that was recorded first was never announced', async (t) => {
  const smtp = await startSmtpServer(t)
  const environment = { ...(await mailEnvironment(smtp)), ...WITHOUT_PURCHASES }
  const service = await startOnlineOrder(t, environment)
  service.stripe.ledger.pay(service.session.id)
  await waitForStatus(service.ann, '1', 'paid')
  await service.ann.call('PATCH', ORDER, { status: 'refunded' })
  await waitForConsequences(service)
  await waitForSubjects(t, smtp, [PAID])
  t.equal((await service.ann.post('/admin/orders/1/refund', {})).status, 303)
  await waitForSubjects(t, smtp, [PAID, REFUNDED])
})

t.test(
  'a debit that arrives after a cancellation is shown, and its refund announced',
  async (t) => {
    const smtp = await startSmtpServer(t)
    const environment = { ...(await mailEnvironment(smtp)), ...WITHOUT_PURCHASES }
    const service = await startOnlineOrder(t, environment)
    const { stripe, ann, app, guest, path, session, readPayment } = service
    await waitFor(async () => {
      await skipPauses(app)
      return smtp.mails.length > 0
    })
    await waitForSubjects(t, smtp, [RECEIVED])
    stripe.ledger.pay(session.id, { isAsync: true })
    await waitFor(async () => (await readPayment()).status === 'processing')
    await ann.call('DELETE', ORDER)
    t.match(toText(await guest.get(path)), /Your payment is on its way, and we will refund it/)
    stripe.ledger.settle(session.id, true)
    await waitFor(async () => (await readPayment()).problem === 'order_cancelled')
    t.match(toText(await ann.get('/admin')), /Needs attention .*1 with a payment problem/)
    t.equal((await ann.post('/admin/orders/1/refund', {})).status, 303)
    t.notMatch(toText(await ann.get('/admin')), 'payment problem')
    t.match(
      toText(await guest.get(path)),
      'This order was cancelled. Your payment has been refunded.',
    )
    await waitForSubjects(t, smtp, [RECEIVED, 'Order CW-000001 was cancelled', REFUNDED])
    const refunded = smtp.mails.find(({ headers }) => headers.get('subject') === REFUNDED)
    t.match(refunded?.text, 'US$52.58')
  },
)

t.test('a payment was never announced if the order was cancelled for a moment', async (t) => {
  const smtp = await startSmtpServer(t)
  const service = await startTwoAdmins(t, {
    ...(await mailEnvironment(smtp)),
    MAIL_HOLD_SECONDS: '1',
  })
  await placeOrder(createGuest(service.url))
  await waitForSubjects(t, smtp, [RECEIVED])
  await service.ann.call('PATCH', ORDER, { status: 'paid' })
  const { version } = await service.ann.call('DELETE', ORDER)
  await waitForConsequences(service)
  await waitForSubjects(t, smtp, [RECEIVED, 'Order CW-000001 was cancelled'])
  await service.ann.post('/admin/orders/1/restore', { version: String(version) })
  await waitForSubjects(t, smtp, [RECEIVED, 'Order CW-000001 was cancelled', PAID])
})

t.test('a refund was never announced if the order was cancelled after it', async (t) => {
  const smtp = await startSmtpServer(t)
  const service = await startTwoAdmins(t, {
    ...(await mailEnvironment(smtp)),
    MAIL_HOLD_SECONDS: '1',
  })
  const guest = createGuest(service.url)
  const path = await placeOrder(guest)
  await service.ann.call('PATCH', ORDER, { status: 'paid' })
  await waitForSubjects(t, smtp, [RECEIVED, PAID])
  await service.ann.call('PATCH', ORDER, { status: 'refunded' })
  await service.ann.call('DELETE', ORDER)
  await waitForSubjects(t, smtp, [RECEIVED, PAID, REFUNDED])
  t.match(
    toText(await guest.get(path)),
    'This order was cancelled. Your payment has been refunded.',
  )
})

t.test('a guest paid the old total if it was changed while Stripe created the page', async (t) => {
  const { stripe, ann, guest, session, path } = await startOnlineOrder(t, WITHOUT_PURCHASES)
  await ann.call('PATCH', ORDER, { amountMinor: 4000 })
  await waitFor(async () => session.status === 'expired')
  stripe.latencyMs = 500
  const paying = guest.post(`${path}/pay`, new URLSearchParams())
  await waitFor(async () => stripe.requests.at(-1) === 'POST /v1/checkout/sessions')
  await ann.call('PATCH', ORDER, { amountMinor: 3000 })
  t.equal((await paying).headers.get('location'), path)
  stripe.latencyMs = 0
  t.same(
    stripe.ledger.sessions.filter(({ status }) => status === 'open'),
    [],
    'no page for the old total is open',
  )
  const { headers } = await guest.post(`${path}/pay`, new URLSearchParams())
  const next = stripe.ledger.getSession(getSessionId(headers.get('location')))
  t.equal(next.amount_total, 3000)
})

t.test('a refund that Stripe refused once could not be made for a day', async (t) => {
  const { stripe, ann, session, readPayment } = await startOnlineOrder(t, WITHOUT_PURCHASES)
  stripe.ledger.pay(session.id)
  await waitForStatus(ann, '1', 'paid')
  stripe.fault = 'no_funds'
  const refused = await ann.post('/admin/orders/1/refund', {})
  t.equal(refused.status, 409)
  t.match(toText(refused), /Stripe refused the refund Insufficient funds/)
  stripe.fault = null
  t.equal((await ann.post('/admin/orders/1/refund', {})).status, 303)
  t.match(await readPayment(), { status: 'refunded' })
  t.equal(stripe.ledger.refunds.length, 1)
})

for (const AUTO_FULFIL of ['true', 'false']) {
  t.test(
    `an order fulfilled while its placement was unknown got no certificate, ${AUTO_FULFIL}`,
    async (t) => {
      const environment = { ORDERSOURCE_TIMEOUT_MS: '400', AUTO_FULFIL }
      const { provider, ann, guest, app } = await startAutoFulfilment(t, environment)
      const path = await placeOrder(guest)
      if (AUTO_FULFIL === 'true') provider.fault = 'no_response_after_order'
      await ann.call('PATCH', ORDER, { status: 'paid' })
      if (AUTO_FULFIL === 'false') {
        const form = readForm(await ann.get('/admin/orders/1/fulfilment?portfolio=1'))
        provider.fault = 'no_response_after_order'
        await ann.post('/admin/orders/1/fulfilment', form)
      }
      await waitForText(() => ann.get('/admin/orders/1'), /Placement status unknown/)
      await ann.call('PATCH', ORDER, { status: 'fulfilled' })
      provider.fault = null
      if (AUTO_FULFIL === 'true') await skipPauses(app)
      else await ann.post('/admin/orders/1/fulfilment/check', {})
      await waitForCertificate(guest, path)
    },
  )
}

t.test('a certificate that cannot be issued is listed on the dashboard', async (t) => {
  const service = await startAutoFulfilment(t)
  const { ann, guest, app } = service
  const path = await placeOrder(guest)
  await ann.call('PATCH', ORDER, { status: 'paid' })
  await waitForCertificate(guest, path)
  await waitForConsequences(service)
  t.notMatch(toText(await ann.get('/admin')), 'CW-000001')
  await app.database.query("UPDATE outbox SET state = 'failed' WHERE queue = 'certificate'")
  t.match(toText(await ann.get('/admin')), 'CW-000001 without its certificate')
})

t.test('a certificate stated a share of the trip that was changed', async (t) => {
  const { ann, guest } = await startAutoFulfilment(t, WITHOUT_PURCHASES)
  const form = readForm(await guest.get('/offset?type=custom&amount=2&unit=t&sharePercent=50'))
  const { headers } = await guest.post('/offset', fillIn(form, { isPublic: 'yes' }))
  const path = headers.get('location') ?? ''
  await ann.call('PATCH', ORDER, { co2eKg: 2000 })
  await ann.call('PATCH', ORDER, { status: 'fulfilled', retirement: RETIREMENT })
  const text = toText(await guest.get(await waitForCertificate(guest, path)))
  t.match(text, 'carbon credits for 2,000 kg of CO₂e')
  t.notMatch(text, '50%')
})

t.test('an order was marked as fulfilled because of an ID that staff entered', async (t) => {
  const { provider, ann, guest, app } = await startAutoFulfilment(t, {
    ORDERSOURCE_TIMEOUT_MS: '400',
  })
  await placeOrder(guest)
  provider.fault = 'no_response_instead_of_order'
  await ann.call('PATCH', ORDER, { status: 'paid' })
  await waitForText(() => ann.get('/admin/orders/1'), /Placement status unknown/)
  await ann.call('PATCH', ORDER, { orderSourceId: '999' })
  await skipPauses(app)
  await waitForConsequences({ app })
  t.equal(provider.ledger.orders.length, 0)
  t.equal((await getOrder(ann, '1')).status, 'paid')
})

t.test('a cancellation never ended if Stripe kept the payment page open', async (t) => {
  const { stripe, ann, guest, path } = await startOnlineOrder(t, WITHOUT_PURCHASES)
  stripe.fault = 'no_expiry'
  await guest.post(`${path}/cancel`, new URLSearchParams())
  t.equal((await getOrder(ann, '1')).status, 'pending')
  stripe.fault = null
  await guest.post(`${path}/cancel`, new URLSearchParams())
  t.equal((await getOrder(ann, '1')).status, 'cancelled')
})

t.test('an order that was cancelled during its purchase stayed unfinished later', async (t) => {
  const { provider, ann, guest, app } = await startAutoFulfilment(t)
  const path = await placeOrder(guest)
  provider.latencyMs = 300
  await ann.call('PATCH', ORDER, { status: 'paid' })
  await waitFor(async () => {
    const sql = `SELECT id FROM orders WHERE attempt ->> 'state' = 'sent'`
    return (await app.database.query(sql)).length > 0
  })
  await ann.call('DELETE', ORDER)
  await waitFor(async () => (await getOrder(ann, '1')).orderSourceId !== null)
  t.equal((await getOrder(ann, '1')).status, 'cancelled')
  provider.latencyMs = 0
  await ann.call('PATCH', ORDER, { status: 'paid' })
  await waitForStatus(ann, '1', 'fulfilled')
  await waitForCertificate(guest, path)
  t.equal(provider.ledger.orders.length, 1)
})
