import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/app.js'
import { freePort } from '../support/free-port.js'
import { createGuest, fillIn, readForm, type Guest } from '../support/guest.js'
import { startPostgres } from '../support/postgres.js'
import { startService, type Service } from '../support/service.js'
import { signIn } from '../support/sign-in.js'
import { getSessionId, sendWebhooks, startStripe } from '../support/stripe.js'
import { waitFor } from '../support/wait-for.js'

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 1)

/** When the service is killed. */
const STEPS = ['ordering', 'paying', 'paying without a webhook', 'refunding', 'cancelling'] as const

/** What a request of Stripe takes, ms: the service is killed before, during and after one. */
const LATENCY_MS = 60

async function testCrashes(t: Test, database: NodeJS.ProcessEnv): Promise<void> {
  const { stripe, environment: stripeEnvironment } = await startStripe(t)
  const environment = {
    ...stripeEnvironment,
    ...database,
    DATA_DIR: temporaryFolder(t),
    PORT: String(await freePort()),
    STRIPE_CHECK_INTERVAL: '0.3',
    PRICE_PER_TONNE: '20',
    CURRENCY: 'EUR',
    LOG_LEVEL: 'error',
    ORDER_LIMIT_PER_EMAIL: '1000',
    ORDER_LIMIT_PER_CLIENT: '1000',
  }
  let service: Service = await startService(t, environment)
  const { url } = service
  let token = await signIn(url)
  stripe.latencyMs = LATENCY_MS

  /** Kills the service at some moment of a request or of background work, and starts it again. */
  async function kill(work: Promise<unknown>): Promise<void> {
    const settled = work.catch(() => undefined)
    await sleep(Math.random() * LATENCY_MS * 5)
    service.process.kill('SIGKILL')
    await once(service.process, 'exit')
    await settled
    service = await startService(t, environment)
    token = await signIn(url)
  }
  const call = async (path: string, options: RequestInit = {}): Promise<any> => {
    const response = await fetch(url + path, {
      ...options,
      headers: { authorization: `Bearer ${token}` },
    })
    return response.json()
  }
  const refund = (id: string) =>
    fetch(`${url}/admin/orders/${id}/refund`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams(),
      redirect: 'manual',
    })
  const getStatus = async (id: string): Promise<string> =>
    (await call(`/api/admin/orders/${id}`)).status

  // A sequence of PostgreSQL has gaps after a crash, so IDs cannot be predicted.
  const getLatestId = async (): Promise<string> =>
    (await call('/api/admin/orders?sort=-placedAt&pageSize=1')).items[0].id

  /** Returns the IDs of the order and of the Stripe session. */
  async function play(step: (typeof STEPS)[number], guest: Guest): Promise<[string, string]> {
    const form = fillIn(readForm(await guest.get('/offset?type=custom&amount=2&unit=t')))
    const submit = () => guest.post('/offset', form)
    if (step === 'ordering') await kill(submit())
    const link = await waitFor(async () => {
      const location = (await submit()).headers.get('location')
      return location?.includes('/c/pay/') === true && location
    })
    const id = await getLatestId()
    const session = stripe.ledger.getSession(getSessionId(link))
    const { pathname: path } = new URL(session.cancel_url)
    if (step === 'cancelling') {
      const cancel = () => guest.post(`${path}/cancel`, new URLSearchParams())
      await kill(cancel())
      await cancel()
      return [id, session.id]
    }
    if (step === 'paying without a webhook') stripe.sender.url = null
    stripe.ledger.pay(session.id)
    if (step.startsWith('paying')) await kill(Promise.resolve())
    await waitFor(async () => (await getStatus(id)) === 'paid')
    if (step !== 'refunding') return [id, session.id]
    await kill(refund(id))
    await refund(id)
    await waitFor(async () => (await getStatus(id)) === 'refunded')
    return [id, session.id]
  }

  const expected: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const step of STEPS) {
      sendWebhooks(stripe, url)
      const [id, session] = await play(step, createGuest(url))
      const status =
        step === 'cancelling' ? 'cancelled' : step === 'refunding' ? 'refunded' : 'paid'
      expected.push(`${id} ${status}`)
      const { items: payments } = await call(`/api/admin/orders/${id}/payments`)
      t.match(payments[0], { sessionId: session, problem: null }, step)
      const used = payments.filter((payment: any) => /paid|refunded/.test(payment.status))
      t.equal(used.length, step === 'cancelling' ? 0 : 1, `${step}: one payment`)
      const { items: history } = await call(`/api/admin/orders/${id}/history`)
      const paid = history.filter(({ changes }: any) =>
        changes.some(({ to }: any) => to === 'paid'),
      )
      t.equal(paid.length, used.length, `${step}: marked as paid once`)
    }
  }
  const { items } = await call('/api/admin/orders?sort=placedAt&pageSize=100')
  t.same(
    items.map(({ id, status }: any) => `${id} ${status}`),
    expected.slice(0, 100),
    'one order for each form',
  )
  t.notOk(stripe.ledger.sessions.some(({ status }) => status === 'open'))
  t.equal(stripe.ledger.refunds.length, ROUNDS)
}

t.test('the service is killed at every step of a payment', async (t) => {
  const server = await startPostgres(t)
  const databases = { SQLite: {}, PostgreSQL: { DATABASE_URL: await server.createDatabase() } }
  // At the same time, because they mostly wait.
  t.jobs = 2
  for (const [engine, database] of Object.entries(databases)) {
    void t.test(engine, { buffered: true }, (t) => testCrashes(t, database))
  }
})
