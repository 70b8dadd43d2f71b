import t, { type Test } from 'tap'
import { startApp, temporaryFolder, type TestApp } from '../support/app.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'
import { runCommand } from '../support/run-command.js'
import { ADMIN, ADMIN_ACCOUNTS, postLogin, signIn } from '../support/sign-in.js'

const PATH = '/admin/settings/audit-log'

interface Entry {
  position: number
  action: string
  actor: string
  address: string | null
  details: Record<string, unknown>
}

/** Calls the API as the administrator; responses are JSON. */
async function startService(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const service = await startApp(t, { ADMIN_ACCOUNTS, ...environment })
  const authorization = `Bearer ${await signIn(service.url)}`
  async function call(method: string, path: string, body?: unknown): Promise<any> {
    const response = await fetch(`${service.url}/api/admin${path}`, {
      method,
      headers: {
        authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    return text === '' || !/[/+]json/.test(response.headers.get('content-type') ?? '')
      ? text
      : JSON.parse(text)
  }
  const list = async (query = ''): Promise<Entry[]> =>
    (await call('GET', `/audit-log${query}`)).items as Entry[]
  return { ...service, call, list }
}

const readAll = async ({ app }: Pick<TestApp, 'app'>): Promise<string> =>
  JSON.stringify(await app.database.query('SELECT * FROM audit_log'))

t.test('records sign-ins, keys, webhooks and exports, without secrets', async (t) => {
  const service = await startService(t)
  const { call, list, url } = service
  const typed = 'my-other-password-typed@example.com'
  await postLogin(url, { email: ADMIN.email, password: 'a wrong password' })
  await postLogin(url, { email: typed, password: 'another wrong password' })

  const { id, key } = await call('POST', '/api-keys', { name: 'Shop', scopes: ['orders:export'] })
  await fetch(`${url}/api/admin/orders/export?q=Jane%20Doe&status=paid`, {
    headers: { authorization: `Bearer ${key}` },
  }).then((response) => response.text())
  await call('DELETE', `/api-keys/${id}`)
  await call('DELETE', `/api-keys/${id}`)
  await call('POST', '/orders', newOrder())
  await call('GET', '/orders/export?format=xlsx')

  const webhook = await call('POST', '/webhooks', {
    url: 'https://shop.invalid/hooks?token=token-in-the-url',
    events: ['order.paid'],
  })
  const { secret } = await call('POST', `/webhooks/${webhook.id}/rotate-secret`)
  await call('PATCH', `/webhooks/${webhook.id}`, { description: 'The shop', enabled: false })
  await call('PATCH', `/webhooks/${webhook.id}`, { description: 'The shop' })
  await call('DELETE', `/webhooks/${webhook.id}`)
  const token = await signIn(url)
  await fetch(`${url}/api/admin/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })

  const entries = (await list()).reverse()
  const actor = ADMIN.email
  const address = '127.0.0.1'
  const host = 'shop.invalid'
  t.match(entries, [
    { position: 1, action: 'sign_in.succeeded', actor, address },
    { position: 2, action: 'sign_in.failed', actor, address },
    { action: 'sign_in.failed', actor: 'unknown account', address },
    { action: 'api_key.created', actor, details: { id, name: 'Shop', scopes: ['orders:export'] } },
    {
      action: 'orders.exported',
      actor: 'API key “Shop”',
      details: { format: 'csv', filters: { status: ['paid'], hasSearch: true }, rows: 0 },
    },
    { action: 'api_key.revoked', actor, details: { id, name: 'Shop' } },
    { action: 'orders.exported', actor, details: { format: 'xlsx', filters: {}, rows: 1 } },
    { action: 'webhook.created', actor, details: { id: webhook.id, host } },
    { action: 'webhook.secret_rotated', actor, details: { id: webhook.id, host } },
    { action: 'webhook.changed', actor, details: { changed: ['description', 'disabled'] } },
    { action: 'webhook.deleted', actor, details: { id: webhook.id, host } },
    { action: 'sign_in.succeeded', actor, details: { method: 'password' } },
    { action: 'sign_out', actor, address },
  ])
  t.equal(entries.length, 13, 'what changes nothing is not recorded')

  const stored = await readAll(service)
  const secrets = [key, webhook.secret, secret, token, ADMIN.password, 'wrong password']
  for (const text of [...secrets, typed, 'token-in-the-url', 'Jane']) {
    t.notOk(stored.includes(String(text)), `${String(text).slice(0, 12)}… is not recorded`)
  }
})

const server = await startPostgres(t)
for (const [engine, getEnvironment] of [
  ['SQLite', async () => ({})],
  ['PostgreSQL', async () => ({ DATABASE_URL: await server.createDatabase() })],
] as const) {
  t.test(`${engine}: the search ignores case and accents in every script`, async (t) => {
    const { call, list, url } = await startService(t, await getEnvironment())
    const names = async (query: string) => (await list(query)).map(({ details }) => details.name)
    for (const [name, searches] of [
      ['Ärmelkanal', ['ärmel', 'ÄRMEL', 'armel']],
      ['ΣΊΣΥΦΟΣ', ['σίσυφος', 'σισυφοσ']],
      ['Волга', ['ВОЛГА', 'волг']],
      ['Große Elbe', ['GROSSE']],
    ] as const) {
      await call('POST', '/api-keys', { name, scopes: ['qr:write'] })
      for (const search of searches) {
        const q = encodeURIComponent(search)
        t.same(await names(`?q=${q}&action=api_key.created`), [name], `${name}: ${search}`)
      }
      const { key } = await call('POST', '/api-keys', {
        name: `${name} 2`,
        scopes: ['webhooks:manage', 'orders:read'],
      })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ url: 'https://shop.example.com', events: ['order.paid'] })
      await fetch(`${url}/api/admin/webhooks`, { method: 'POST', headers, body })
      const actor = encodeURIComponent(`api key “${name.toLowerCase()} 2”`)
      t.equal((await list(`?actor=${actor}`)).length, 1, 'the actor too')
    }
  })
}

t.test('the API filters and pages the log', async (t) => {
  const { call, list, url } = await startService(t)
  for (const name of ['One', 'Two', '100%', 'Four']) {
    await call('POST', '/api-keys', { name, scopes: ['qr:write'] })
  }
  const names = async (query: string) => (await list(query)).map(({ details }) => details.name)
  t.same(await names('?action=api_key.created&q=TWO'), ['Two'])
  t.same(await names('?q=%25'), ['100%'], 'as text, not as a pattern')
  t.same(await names('?actor=somebody@example.com'), [])
  t.equal((await list(`?actor=ADMIN@example.com&from=2020-01-01&to=2199-01-01`)).length, 5)
  t.same(await names('?to=2020-01-01'), [])

  const first = await call('GET', '/audit-log?pageSize=2&action=api_key.created')
  t.equal(first.items.length, 2)
  const next = await call('GET', `/audit-log?pageSize=2&before=${first.next}`)
  t.same(
    [...first.items, ...next.items].map(({ details }) => details.name),
    ['Four', '100%', 'Two', 'One'],
  )
  const response = await fetch(`${url}/api/admin/audit-log`)
  t.equal(response.status, 401)
  t.match(await call('GET', '/audit-log?from=2026-02-02&to=2026-02-01&pageSize=1'), {
    status: 422,
    errors: [{ path: 'to', message: 'must not be before from' }],
  })
  t.match(await call('GET', '/audit-log?action=everything'), { status: 422 })

  const csv: string = await call('GET', '/audit-log/export?q=100%25')
  t.match(csv.split('\r\n'), [
    /position,at,action,actor,address,details,hash/,
    /^4,.*,api_key.created,admin@example.com,127.0.0.1,".*100%.*",[\da-f]{64}$/,
    /^$/,
  ])
  const ndjson: string = await call('GET', '/audit-log/export?format=ndjson')
  const lines = ndjson.trim().split('\n')
  t.equal(lines.length, 6)
  t.match(JSON.parse(lines[0] ?? ''), {
    action: 'audit_log.exported',
    details: { format: 'csv', filters: { q: '100%' }, rows: 1 },
  })
})

t.test('sign-ins with unknown emails do not fill the log', async (t) => {
  const service = await startService(t, { LOGIN_LIMIT_PER_CLIENT: '1000000' })
  const attempts = Array.from({ length: 110 }, (_, index) => index)
  for (let at = 0; at < attempts.length; at += 10) {
    await Promise.all(
      attempts
        .slice(at, at + 10)
        .map((n) => postLogin(service.url, { email: `guess${n}@example.com`, password: 'x' })),
    )
  }
  const [row] = await service.app.database.query<{ count: number }>(
    "SELECT count(*) AS count FROM audit_log WHERE action = 'sign_in.failed'",
  )
  t.equal(row?.count, 100)
})

t.test('the address is that of the client, or of its proxy', async (t) => {
  const { list, url } = await startService(t, { TRUST_PROXY: 'true' })
  for (const address of ['2001:db8::7', '=cmd()']) {
    await postLogin(url, ADMIN, { 'x-forwarded-for': address })
  }
  t.match(await list('?pageSize=2'), [{ address: '127.0.0.1' }, { address: '2001:db8::7' }])
})

t.test('an entry that cannot be stored does not fail the sign-in', async (t) => {
  const { app, url, log } = await startService(t)
  await app.database.query('ALTER TABLE audit_log RENAME TO other')
  t.equal((await postLogin(url)).status, 200)
  t.ok(log.some(({ msg }) => msg === 'the audit log could not be written'))
})

t.test('the page works without scripts', async (t) => {
  const { ann, ben } = await startTwoAdmins(t)
  await ben.post('/admin/orders/views', { name: '<b>Mine</b>', list: '/admin/orders' })
  for (let i = 0; i < 51; i++) await ben.post('/admin/orders/views/remove', { name: '<b>Mine</b>' })
  const { text } = await ann.get(PATH)
  t.match(text, /View saved.*colleague@example\.com.*127\.0\.0\.1.*&lt;b&gt;Mine/s)
  t.match(text, /View removed/)
  t.notMatch(text, /rel="next"/)

  const mine = await ann.get(`${PATH}?actor=colleague%40example.com&action=view.saved&from=&to=`)
  t.match(mine.text, /<option value="view\.saved" selected>/)
  t.notMatch(mine.text, /admin@example\.com<\/bdi>/)
  t.match((await ann.get(`${PATH}?q=nothing`)).text, /No matching entries.*/s)
  t.match((await ann.get(`${PATH}?from=yesterday`)).text, /Ignored.*from/s)

  const older = /<a rel="next" href="([^"]+)">Older/.exec(
    (await ann.get(`${PATH}?pageSize=2`)).text,
  )
  const second = await ann.get((older?.[1] ?? '').replaceAll('&amp;', '&'))
  t.match(second.text, /Newest<\/a>/)
  const file = await ann.get(`${PATH}/export?action=view.saved`)
  t.match(file.headers.get('content-disposition'), /^attachment; filename="audit-log-.*\.csv"$/)
  t.match(file.text, /view\.saved,colleague@example\.com/)
})

t.test('audit:verify prints the head, and reports a changed entry', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const { app, call } = await startService(t, { DATA_DIR })
  await call('POST', '/api-keys', { name: 'Shop', scopes: ['qr:write'] })
  const run = (...args: string[]) => runCommand('audit-verify', args, { DATA_DIR })
  const intact = await run()
  t.match(intact, {
    code: 0,
    output: /^The audit log is intact: 2 entries\.\nHead: 2:[\da-f]{64}\n$/,
  })
  const head = /2:[\da-f]{64}/.exec(intact.output)?.[0] ?? ''
  t.match(await run('--head', head), { code: 0 })
  t.match(await run('--head', head.replace(/.$/, 'x')), { code: 1, errors: /Usage/ })

  await app.database.query("UPDATE audit_log SET actor = 'eve@example.com' WHERE position = 2")
  t.match(await run(), {
    code: 1,
    errors: 'The audit log is broken at position 2: the entry does not match its hash.\n',
  })
})

t.test('security.txt has a contact and expires within a year', async (t) => {
  const path = '/.well-known/security.txt'
  const { url } = await startApp(t, { SECURITY_CONTACT: 'security@example.com' })
  const response = await fetch(url + path)
  t.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  const [, contact, expires = ''] =
    /^Contact: (\S+)\nExpires: (\S+)\n$/.exec(await response.text()) ?? []
  t.equal(contact, 'mailto:security@example.com')
  const days = (Date.parse(expires) - Date.now()) / 86_400_000
  t.ok(days > 30 && days < 365)
  const { url: other } = await startApp(t)
  t.equal((await fetch(other + path)).status, 404)
})
