import t, { type Test } from 'tap'
import { DAY_MS, MINUTE_MS } from '../../src/core/time.js'
import { migratePostgres } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import { takeLease } from '../../src/database/state-store/state-store.js'
import { createAccount } from '../support/accounts.js'
import { startApp, type TestApp } from '../support/app.js'
import { startPostgres } from '../support/postgres.js'
import { ADMIN, ADMIN_ACCOUNTS, postLogin, signIn, verify } from '../support/sign-in.js'
import { waitFor, waitUntil } from '../support/wait-for.js'

const WRONG = { ...ADMIN, password: 'a wrong password' }

/** Generous to a busy machine; what has gone silent would be waited for without end. */
const BOUND_MS = 10_000

const PASSWORD = 'password-of-the-database'
const server = await startPostgres(t)
const databaseUrl = new URL(await server.createDatabase())
databaseUrl.password = PASSWORD

const start = (t: Test, environment: NodeJS.ProcessEnv = {}): Promise<TestApp> =>
  startApp(t, {
    ADMIN_ACCOUNTS,
    DATABASE_URL: databaseUrl.href,
    TRUST_PROXY: 'true',
    ...environment,
  })

const signOut = (url: string, token: string): Promise<Response> =>
  fetch(`${url}/api/admin/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })

async function timed<T>(workload: Promise<T>): Promise<{ answer: T; milliseconds: number }> {
  const start = performance.now()
  return { answer: await workload, milliseconds: performance.now() - start }
}

/** Repeats a request until the response is the expected one. */
const becomes = (
  status: number,
  sendRequest: () => Promise<{ status: number }>,
): Promise<boolean> =>
  waitUntil(async () => (await sendRequest()).status === status, { everyMs: 50 })

t.test('signs out of all processes at once, and ends other sessions', async (t) => {
  const [one, other] = [await start(t), await start(t)]
  const token = await signIn(one.url)
  t.equal((await verify(other.url, token)).status, 200, 'a login holds at all, too')
  t.equal((await signOut(one.url, token)).status, 204)
  t.equal((await verify(other.url, token)).status, 401)
  t.equal((await verify(one.url, token)).status, 401)

  const [here, lost] = [await signIn(one.url), await signIn(other.url)]
  const sessions = async (token: string, method = 'GET', path = '') => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${one.url}/api/admin/sessions${path}`, { method, headers })
    return method === 'GET' ? response.json() : response.status
  }
  const { items } = (await sessions(lost)) as { items: { id: string; current: boolean }[] }
  const id = items.find(({ current }) => current)?.id ?? ''
  t.equal((await verify(other.url, lost)).status, 200)
  t.equal(await sessions(here, 'DELETE', `/${id}`), 204)
  t.equal((await verify(other.url, lost)).status, 401, 'immediately')
  t.equal((await verify(other.url, here)).status, 200)
})

t.test('changes of an account act in every process', async (t) => {
  const [one, other] = [await start(t), await start(t)]
  const { id, email, password } = await createAccount(one, 'manager', 'shared@example.com')
  const signInManager = () => signIn(other.url, { email, password })
  let token = await signInManager()
  const owner = await signIn(one.url)
  const change = (method: string, body: object) =>
    fetch(`${one.url}/api/admin/accounts/${id}`, {
      method,
      headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const exportOrders = async () => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${other.url}/api/admin/orders/export`, { headers })).status
  }
  t.equal(await exportOrders(), 200)
  await change('PATCH', { role: 'viewer' })
  t.equal(await exportOrders(), 401, 'the session has ended')
  token = await signInManager()
  t.equal(await exportOrders(), 403, 'and the role has changed')
  await change('PATCH', { disabled: true })
  t.equal(await exportOrders(), 401)
  t.equal((await postLogin(other.url, { email, password })).status, 401)
  await change('PATCH', { disabled: false })
  token = await signInManager()
  t.equal(await exportOrders(), 403)
  await change('DELETE', {})
  t.equal(await exportOrders(), 401)
})

t.test('counts failures across processes', async (t) => {
  const [one, other] = [
    await start(t, { LOGIN_LIMIT_PER_CLIENT: '4' }),
    await start(t, { LOGIN_LIMIT_PER_CLIENT: '4' }),
  ]
  const here = { 'x-forwarded-for': '203.0.113.1' }
  const found = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const { url } = i % 2 === 0 ? one : other
      return (await postLogin(url, WRONG, here)).status
    }),
  )
  t.equal(found.filter((status) => status === 401).length, 4, 'also if concurrent')
  t.equal(found.filter((status) => status === 429).length, 8)
  const refused = await postLogin(other.url, ADMIN, here)
  const seconds = Number(refused.headers.get('retry-after'))
  t.ok(seconds > 800 && seconds <= 900)
})

t.test('shares failures by address across processes', async (t) => {
  // Its own account, as the failures of other tests are still remembered.
  const email = 'another@example.com'
  const limit = {
    LOGIN_LIMIT_PER_ACCOUNT: '2',
    ADMIN_ACCOUNTS: ADMIN_ACCOUNTS.replace(ADMIN.email, email),
  }
  const [one, other] = [await start(t, limit), await start(t, limit)]
  await postLogin(one.url, { ...ADMIN, email }, { 'x-forwarded-for': '192.0.2.1' })
  for (let i = 0; i < 3; i++) {
    await postLogin(one.url, { ...WRONG, email }, { 'x-forwarded-for': `198.51.100.${i}` })
  }
  const at = async (address: string) =>
    (await postLogin(other.url, { ...ADMIN, email }, { 'x-forwarded-for': address })).status
  t.equal(await at('198.51.100.99'), 429)
  t.equal(await at('192.0.2.1'), 200)
})

t.test('without PostgreSQL, administrators wait, guests do not, and it reconnects', async (t) => {
  const { url, log } = await start(t)
  const here = { 'x-forwarded-for': '192.0.2.50' }
  const { body } = await postLogin(url, ADMIN, here)
  const token: string = body.token
  const signingOut = await signIn(url)
  const ended = await signIn(url)
  await signOut(url, ended)
  const readiness = async () => {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, body: (await response.json()) as unknown }
  }
  t.match(await readiness(), { status: 200, body: { checks: { database: { ready: true } } } })

  for (const [what, stop, resume] of [
    ['killed', () => server.kill(), () => server.start()],
    ['frozen', async () => server.freeze(), async () => server.thaw()],
  ] as const) {
    await stop()
    const times: number[] = []
    for (const sendRequest of [
      () => verify(url, token),
      () => verify(url, ended),
      () => signOut(url, signingOut),
      () => postLogin(url, ADMIN, here),
    ]) {
      const { answer, milliseconds } = await timed(sendRequest())
      times.push(milliseconds)
      t.equal(answer.status, 503, what)
      t.match(answer.headers.get('content-type'), /^application\/problem\+json/)
      t.ok(Number(answer.headers.get('retry-after')) > 0)
      t.ok(milliseconds < BOUND_MS, `${what}: after ${Math.round(milliseconds)} ms`)
    }
    // Without a connection, there is nothing to wait for.
    if (what === 'killed') t.ok(Math.min(...times) < 400, `${times.map(Math.round).join()} ms`)
    t.equal((await verify(url, 'x')).status, 401, 'a malformed token needs no database')
    const guest = await timed(fetch(`${url}/calculator/fuel`))
    t.equal(guest.answer.status, 200)
    t.ok(guest.milliseconds < BOUND_MS)
    t.match(await readiness(), {
      status: 503,
      body: { status: 'not ready', checks: { database: { ready: false } } },
    })

    await resume()
    t.ok(await becomes(200, () => verify(url, token)), `${what}: back by itself`)
    t.equal((await verify(url, ended)).status, 401, 'ended sessions stay ended')
    t.equal((await verify(url, signingOut)).status, 200, 'its sign-out was rejected')
    t.equal((await postLogin(url, ADMIN, here)).status, 200)
    t.equal((await readiness()).status, 200)
  }
  t.match(JSON.stringify(log), /PostgreSQL is not available: the connection was refused/)
  t.notMatch(JSON.stringify(log), PASSWORD)
})

t.test('a lease is not lost to a process that asked before the holder extended it', async (t) => {
  const postgres = openPostgres(await server.createDatabase(), { poolSize: 4 })
  t.teardown(() => postgres.close())
  await migratePostgres(postgres)
  const holder = { name: 'test', holder: 'holder' }
  const other = { name: 'test', holder: 'other' }
  t.equal(await takeLease(postgres, holder, MINUTE_MS), true)
  let asked: Promise<boolean> | undefined
  await postgres.write(async (tx) => {
    await tx.query("SELECT 1 FROM leases WHERE name = 'test' FOR UPDATE")
    asked = takeLease(postgres, other, MINUTE_MS)
    await waitFor(async () => {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
      return (await postgres.query(waiting)).length === 1
    })
    const extended = Date.now() + MINUTE_MS
    await tx.query("UPDATE leases SET expires_at = ? WHERE name = 'test'", [extended])
  })
  t.equal(await asked, false)

  await postgres.query("UPDATE leases SET expires_at = ? WHERE name = 'test'", [
    Date.now() + DAY_MS,
  ])
  t.equal(await takeLease(postgres, other, MINUTE_MS), true, 'a lease of a wrong clock has expired')
})
