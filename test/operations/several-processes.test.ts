import t from 'tap'
import { postJson } from '../support/app.js'
import { newOrder } from '../support/order-store.js'
import { startPostgres } from '../support/postgres.js'
import { startService, type Service } from '../support/service.js'
import { ADMIN, cookieHeader, postLogin, signIn, verify } from '../support/sign-in.js'

const server = await startPostgres(t)
const DATABASE_URL = await server.createDatabase()
const start = () =>
  startService(t, {
    DATABASE_URL,
    TRUST_PROXY: 'true',
    LOGIN_LIMIT_PER_CLIENT: '4',
  })
const [one, other] = await Promise.all([start(), start()])

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const orders = ({ url }: Service) => `${url}/api/admin/orders`

t.test('processes share sessions and sign-outs', async (t) => {
  const login = await postLogin(one.url)
  const token = login.body.token as string
  t.equal((await verify(other.url, token)).status, 200)
  const cookie = cookieHeader(login)
  t.equal((await fetch(`${other.url}/admin`, { headers: { cookie } })).status, 200)
  await fetch(`${other.url}/api/admin/logout`, { method: 'POST', headers: bearer(token) })
  for (const { url } of [one, other]) {
    t.equal((await verify(url, token)).status, 401)
    t.not((await fetch(`${url}/admin`, { headers: { cookie }, redirect: 'manual' })).status, 200)
  }
})

t.test('processes share failed sign-ins and known devices', async (t) => {
  const here = { 'x-forwarded-for': '203.0.113.9' }
  const known = cookieHeader(await postLogin(one.url, ADMIN, here))
  const wrong = { ...ADMIN, password: 'a wrong password' }
  const found = await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const { url } = i % 2 === 0 ? one : other
      return (await postLogin(url, wrong, here)).status
    }),
  )
  t.equal(found.filter((status) => status === 401).length, 4)
  t.equal(found.filter((status) => status === 429).length, 6)
  for (const { url } of [one, other]) {
    t.equal((await postLogin(url, ADMIN, here)).status, 429)
    t.equal((await postLogin(url, ADMIN, { ...here, cookie: known })).status, 200)
  }
})

t.test('a code created by one process opens in the other', async (t) => {
  const { body } = await postJson(`${one.url}/api/qr-code/generate`, {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
    vessel: { name: 'Ever Given' },
  })
  const { pathname, search } = new URL(body.url as string)
  const page = await (await fetch(other.url + pathname + search)).text()
  t.ok(page.includes('<bdi>Ever Given</bdi>') && page.includes('class="figure"'))
})

t.test('an order created by one process is listed by the other immediately', async (t) => {
  const headers = bearer(await signIn(one.url))
  const totals = async ({ url }: Service, query = '') => {
    const list = await fetch(`${url}/api/admin/orders${query}`, { headers })
    const stats = await postJson(`${url}/api/admin/stats`, { range: '7d' }, headers)
    return [((await list.json()) as { totalItems: number }).totalItems, stats.body.orders]
  }
  for (let i = 1; i <= 10; i++) {
    const [here, there] = i % 2 === 0 ? [one, other] : [other, one]
    t.equal((await postJson(orders(here), newOrder(), headers)).status, 201)
    t.same(await totals(there), [i, i])
  }
  t.same(await totals(other, '?q=CW-000010'), [1, 10], 'found by a search, too')

  const changed = await fetch(`${orders(one)}/1`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ notes: 'by one' }),
  })
  t.equal(changed.status, 200)
  const stale = await fetch(`${orders(other)}/1`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json', 'if-match': '"1"' },
    body: JSON.stringify({ notes: 'by the other' }),
  })
  t.equal(stale.status, 412)
})

t.test(
  'concurrent requests to multiple processes create one order, and make one change',
  async (t) => {
    const headers = bearer(await signIn(other.url))
    for (let round = 0; round < 5; round++) {
      const keyed = { ...headers, 'idempotency-key': `round ${round}` }
      const responses = await Promise.all(
        [one, other, one, other].map((service) => postJson(orders(service), newOrder(), keyed)),
      )
      t.equal(new Set(responses.map(({ body }) => body.id as string)).size, 1)
      t.ok(responses.every(({ status }) => status === 200 || status === 201))
    }
    const four = [one, other, ...(await Promise.all([start(), start()]))]
    const created = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        postJson(orders(four[i % 4] ?? one), newOrder(), { ...headers, 'idempotency-key': 'four' }),
      ),
    )
    // On a slow machine, some are rejected as overload.
    const accepted = created.filter(({ status }) => status !== 503)
    t.ok(accepted.length > 1)
    t.equal(new Set(accepted.map(({ body }) => body.id as string)).size, 1, 'across four processes')

    const numbers = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const { body } = await postJson(orders(i % 2 === 0 ? one : other), newOrder(), headers)
        return body.orderNumber as string
      }),
    )
    t.equal(new Set(numbers).size, 20, 'and no number is given twice')

    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const response = await fetch(`${orders(four[i % 4] ?? one)}/2`, {
          method: 'PATCH',
          headers: { ...headers, 'content-type': 'application/json', 'if-match': '"1"' },
          body: JSON.stringify({ notes: `change ${i}` }),
        })
        return response.status
      }),
    )
    t.equal(statuses.filter((status) => status === 200).length, 1, 'one of 200 changes wins')
    // On a slow machine, some are rejected as overload instead.
    const others = new Set(statuses.filter((status) => status !== 200))
    t.same(
      [...others].filter((status) => status !== 412 && status !== 503),
      [],
    )
    t.ok(others.has(412))
    for (const service of [one, other]) {
      service.process.kill('SIGTERM')
      t.equal(await service.ended, 0)
    }
  },
)
