import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { postJson, temporaryFolder } from '../support/app.js'
import { newOrder } from '../support/order-store.js'
import { startService } from '../support/service.js'
import { ADMIN, postLogin, signIn, verify } from '../support/sign-in.js'

const HOUR_MS = 60 * 60 * 1000
const CLOCK = join(projectRoot, '.test', 'test', 'support', 'fake-clock.js')
const QR_CODE = {
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  vessel: { name: 'Ever Given' },
}

t.test('recovers from a clock that jumps forward or back', async (t) => {
  const CLOCK_FILE = join(temporaryFolder(t), 'clock')
  const setClock = (hours: number) => writeFileSync(CLOCK_FILE, String(hours * HOUR_MS))
  setClock(0)
  const environment = {
    CLOCK_FILE,
    DATA_DIR: temporaryFolder(t),
    TRUST_PROXY: 'true',
    LOGIN_LIMIT_PER_CLIENT: '2',
  }
  const start = () => startService(t, environment, { nodeOptions: ['--import', CLOCK] })
  let service = await start()
  const from = (client: number) => ({ 'x-forwarded-for': `192.0.2.${client}` })
  const call = async (path: string, method = 'GET', body?: unknown) => {
    const token = await signIn(service.url)
    const response = await fetch(`${service.url}/api/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  const isIn = async (token: string) => (await verify(service.url, token)).status === 200
  const makeLink = async (client: number) =>
    new URL((await postJson(`${service.url}/api/qr-code/generate`, QR_CODE, from(client))).body.url)
  /** What a link opens: a result, or the title of the error. */
  const opened = async ({ pathname, search }: URL) => {
    const page = await (await fetch(service.url + pathname + search)).text()
    return page.includes('class="figure"') ? 'a result' : /<h1>(.*?)<\/h1>/.exec(page)?.[1]
  }
  const signOut = (token: string) =>
    fetch(`${service.url}/api/admin/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
  /** Seconds that a client must wait after too many failed sign-ins. */
  const getSignInWait = async () => {
    const { status, headers } = await postLogin(
      service.url,
      { ...ADMIN, password: 'wrong' },
      from(1),
    )
    t.equal(status, 429)
    return Number(headers.get('retry-after'))
  }
  const MAX_WAIT_SECONDS = 900

  const [here, gone] = [await signIn(service.url), await signIn(service.url)]
  t.equal((await signOut(gone)).status, 204)
  const link = await makeLink(1)
  for (let i = 0; i < 2; i++) await postLogin(service.url, { ...ADMIN, password: 'wrong' }, from(1))
  t.ok((await getSignInWait()) <= MAX_WAIT_SECONDS)
  const { body: order } = await call('/orders', 'POST', newOrder())
  const path = `/orders/${order.id}`

  setClock(-5)
  t.ok(await isIn(here), 'the session stays valid when the clock is set back')
  t.notOk(await isIn(gone))
  t.ok((await getSignInWait()) <= MAX_WAIT_SECONDS, 'the wait does not get longer')
  t.equal(await opened(await makeLink(2)), 'a result', 'a new code opens')
  t.match((await call(path, 'PATCH', { notes: 'second' })).body, {
    version: 2,
    updatedAt: order.createdAt,
  })
  t.equal((await call('/orders', 'POST', newOrder())).status, 201)

  setClock(5)
  t.notOk(await isIn(here), 'the session was not used for ten hours')
  t.notOk(await isIn(gone))
  t.ok((await getSignInWait()) <= MAX_WAIT_SECONDS)
  t.equal(await opened(link), 'a result')
  await call(path, 'PATCH', { notes: 'third' })
  t.match((await call(`${path}/history`)).body, {
    items: [{ version: 3 }, { version: 2 }, { version: 1 }],
  })

  setClock(10)
  t.ok(await isIn(await signIn(service.url)), 'signing in again works')
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
  service = await start()
  setClock(0)
  t.ok(await isIn(await signIn(service.url)))
  t.notOk(await isIn(gone), 'an ended session stays ended')

  setClock(24 * 40)
  const ahead = await signIn(service.url)
  t.ok(await isIn(ahead))
  t.match(await opened(link), /expired/)
  t.equal((await call('/orders', 'POST', newOrder())).status, 201)
  setClock(0)
  t.notOk(await isIn(ahead), 'a session from a clock that was ahead is rejected')
  t.equal(await opened(link), 'a result')
  for (const [range, orders] of [
    ['7d', 2],
    ['all', 3],
  ] as const) {
    t.match(await call('/stats', 'POST', { range }), { status: 200, body: { orders } })
  }
  t.match(await call('/orders'), { body: { totalItems: 3 } })
  t.equal((await call('/orders', 'POST', newOrder())).body.orderNumber, 'CW-000004')
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
  t.notMatch(service.output(), /"level":50/)
})
