import t from 'tap'
import { ROLES, type Role } from '../../src/accounts/permissions.js'
import { startFakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { createMailbox } from '../../src/demo/mailbox.js'
import { createAccount } from '../support/accounts.js'
import { startApp } from '../support/app.js'
import { createGuest, placeOrder } from '../support/guest.js'
import { newOrder } from '../support/order-store.js'
import { signInClient, type PageClient } from '../support/page-client.js'
import { upstreamEnvironment } from '../support/recording-upstream.js'
import { routeTable } from '../support/route-table.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { toRequest, validCalls, type Call } from '../support/valid-calls.js'
import { waitFor } from '../support/wait-for.js'

/**
 * The lowest role that may call a route, by patterns of `METHOD /path`; the first that matches
 * counts. `null`: no sign-in.
 */
const EXPECTED: [RegExp, Role | null][] = [
  [
    / \/(?:api\/)?admin\/login(?:\/|$)| \/admin\/(?:forgot-password|invitation|password-reset)/,
    null,
  ],
  [/ \/(?:api\/)?admin\/(?:logout|verify|confirm|sessions|account(?:\/|$))/, 'viewer'],
  [/ \/(?:api\/)?admin\/(?:settings\/people|accounts)/, 'owner'],
  [
    / \/(?:api\/)?admin\/(?:settings\/)?(?:api-keys|webhooks|audit-log|personal-data|erasures)/,
    'owner',
  ],
  [/ \/admin\/settings/, 'manager'],
  [/ \/(?:api\/)?admin\/orders\/export/, 'manager'],
  [/ \/admin\/orders\/:id\/fulfilment\/progress/, 'viewer'],
  [/ \/admin\/orders\/:id\/(?:fulfilment|refund)/, 'manager'],
  [/^POST \/admin\/orders\/:id\/mails/, 'manager'],
  [/^(?:GET|HEAD) \/admin\/orders\/(?:new|bulk|:id\/(?:edit|cancel))/, 'operator'],
  [/^POST \/api\/admin\/stats/, 'viewer'],
  [/^(?:GET|HEAD) \/(?:api\/)?admin/, 'viewer'],
  [/^\S+ \/(?:api\/)?admin\/orders/, 'operator'],
  [/^(?:GET|HEAD) \/api\/ordersource/, 'viewer'],
  [/ \/api\/ordersource/, 'manager'],
  [/ \/(?:qr-test|api\/qr-codes?(?:\/generate)?)$/, 'operator'],
  [/./, null],
]

/** Calls whose body, too, decides who may make them; see the test of statuses. */
const BY_STATUS =
  /^(?:POST \/admin\/orders(?:\/bulk|\/:id\/(?:status|restore))?|(?:POST|PATCH) \/api\/admin\/orders(?:\/:id)?)$/
/** Calls that end the session of the walk */
const ENDS_SESSION = /logout|sessions/

const isAllowed = (role: Role, lowest: Role): boolean =>
  ROLES.indexOf(role) <= ROLES.indexOf(lowest)

const fakeProvider = await startFakeProvider({ token: 'token-of-the-tests' })
t.teardown(() => fakeProvider.close())
const started = await startApp(
  t,
  {
    ADMIN_ACCOUNTS,
    LOG_LEVEL: 'error',
    QR_REQUIRE_ADMIN: 'true',
    CURRENCY: 'EUR',
    PRICE_PER_TONNE: '24.50',
    ...Object.fromEntries(
      ['RATE_LIMIT_PER_MINUTE', 'QR_RATE_LIMIT_PER_MINUTE', 'LOGIN_LIMIT_PER_CLIENT'].map(
        (name) => [name, '1000000'],
      ),
    ),
    ...upstreamEnvironment(fakeProvider.url, {
      ORDERSOURCE_API_TOKEN: fakeProvider.token,
      ORDERSOURCE_PUBLIC_ROUTES: 'none',
    }),
  },
  { mailDelivery: createMailbox().delivery },
)
const { app, url } = started

const clients = new Map<Role, PageClient>()
const tokens = new Map<Role, string>()
for (const role of ROLES) {
  const { email, password } = await createAccount(started, role)
  clients.set(role, await signInClient(url, { email, password }))
  tokens.set(role, await signIn(url, { email, password }))
}

const client = (role: Role): PageClient => {
  const found = clients.get(role)
  if (found === undefined) throw new Error(`no client of ${role}`)
  return found
}

const guestOrder = await placeOrder(createGuest(url))
const STATUSES = ['pending', 'paid', 'processing', 'fulfilled', 'refunded', 'cancelled']
for (const status of STATUSES) {
  const created = await client('owner').call('POST', '/api/admin/orders', {
    customerName: 'Ann',
    customerEmail: 'ann@example.com',
    co2eKg: 1000,
    amountMinor: 2450,
    currency: 'EUR',
  })
  const path = `/api/admin/orders/${created.id}`
  if (status === 'refunded') await client('owner').call('PATCH', path, { status: 'paid' })
  if (status === 'cancelled') await client('owner').call('DELETE', path)
  else if (status !== 'pending') await client('owner').call('PATCH', path, { status })
}
const mail = await waitFor(async () => {
  const [row] = await app.database.query<{ path: string }>(
    "SELECT '/admin/orders/' || order_id || '/mails/' || id AS path FROM outbox WHERE queue = 'mail'",
  )
  return row?.path
})

function send(call: Call, token: string | undefined): Promise<Response> {
  // This order does not exist.
  const { path, headers, ...request } = toRequest(call, '999999')
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return fetch(url + path, {
    ...request,
    redirect: 'manual',
    headers: { ...headers, ...authorization },
  })
}

t.test('every route permits the roles of the table, and nobody else', async (t) => {
  const calls = validCalls({
    guestOrder,
    certificate: '/c/none',
    mail,
    offsetOrder: '1',
    apiKey: 'none',
    link: new URL(`${url}/calculator/fuel?vessel=x`),
    asset: app.asset('site.css'),
    credentials: { email: 'nobody@example.com', password: 'a wrong password' },
  })
  const routes = routeTable(app).map(({ method, path }) => `${method} ${path}`)
  let guarded = 0
  for (const route of new Set(routes)) {
    const [call] = calls.get(route) ?? []
    if (call === undefined) throw new Error(`no call of ${route}`)
    const [, lowest = null] = EXPECTED.find(([pattern]) => pattern.test(route)) ?? []
    if (lowest === null) {
      t.notOk((await send(call, undefined)).status === 403, `${route} is public`)
      continue
    }
    guarded++
    const { status, headers } = await send(call, undefined)
    const toSignIn = status === 303 && headers.get('location')?.startsWith('/admin/login?returnTo=')
    t.ok(status === 401 || toSignIn, `${route} requires sign-in, not ${status}`)
    for (const role of ROLES) {
      if (isAllowed(role, lowest) && (ENDS_SESSION.test(route) || BY_STATUS.test(route))) continue
      const response = await send(call, tokens.get(role))
      await response.arrayBuffer()
      t.equal(response.status === 403, !isAllowed(role, lowest), `${role}: ${route}`)
      t.not(response.status, 401, `${role} stays signed in: ${route}`)
    }
  }
  t.ok(guarded > 100, `${guarded} routes`)
})

t.test('unknown paths are not found, whatever the role', async (t) => {
  for (const role of ROLES) {
    for (const path of ['/admin/nothing', '/api/admin/nothing', '/admin/settings/nothing']) {
      const headers = { authorization: `Bearer ${tokens.get(role) ?? ''}` }
      t.equal((await fetch(url + path, { headers })).status, 404, `${role}: ${path}`)
    }
  }
})

t.test('operators cannot record money or fulfilment', async (t) => {
  const operator = client('operator')
  const pending = await operator.call('POST', '/api/admin/orders', {
    customerName: 'Ben',
    customerEmail: 'ben@example.com',
    co2eKg: 1000,
    amountMinor: 2450,
    currency: 'EUR',
    status: 'pending',
  })
  const path = `/admin/orders/${pending.id}`
  for (const status of ['paid', 'processing', 'fulfilled', 'refunded']) {
    t.equal((await operator.call('PATCH', `/api${path}`, { status })).status, 403, status)
    const page = await operator.post(`${path}/status`, { status, version: '1' })
    t.equal(page.status, 403, `${status}, page`)
    const order = `${pending.id}:1`
    t.equal((await operator.post('/admin/orders/bulk', { action: status, order })).status, 403)
  }
  const retirement = { registry: 'Verra', reference: 'VCS-1', retiredAt: '2026-01-31' }
  for (const value of [retirement, null]) {
    t.equal((await operator.call('PATCH', `/api${path}`, { retirement: value })).status, 403)
  }
  const edit = `${path}/edit?group=retirement`
  t.equal((await operator.get(edit)).status, 403)
  t.equal((await operator.post(edit, { version: '1', ...retirement })).status, 403)
  t.notMatch((await operator.get(path)).text, 'group=retirement')
  t.equal((await operator.call('GET', `/api${path}`)).status, 'pending')
  t.equal((await operator.call('PATCH', `/api${path}`, { notes: 'Call Ann' })).notes, 'Call Ann')
  t.equal((await operator.call('DELETE', `/api${path}`)).status, 'cancelled')
  t.equal((await operator.post(`${path}/restore`, { version: '3' })).status, 303)

  await client('manager').call('PATCH', `/api${path}`, { status: 'paid' })
  const { version } = await operator.call('GET', `/api${path}`)
  t.equal((await operator.post(`${path}/restore`, { version: String(version) })).status, 403)
  const bulk = { action: 'undo', order: `${pending.id}:${version}` }
  t.match((await operator.post('/admin/orders/bulk', bulk)).text, 'your role does not permit this')
  t.equal((await operator.call('GET', `/api${path}`)).status, 'paid')
})

t.test('an operator changed the price of an order that a guest had paid', async (t) => {
  const operator = client('operator')
  const path = '/admin/orders/1'
  const before = await operator.call('GET', `/api${path}`)
  for (const changes of [{ amountMinor: 60, currency: 'JPY' }, { co2eKg: 1 }]) {
    t.equal((await operator.call('PATCH', `/api${path}`, changes)).status, 403)
  }
  const fields = { version: '1', co2eKg: '1', amount: '60', currency: 'JPY' }
  t.equal((await operator.post(`${path}/edit?group=amounts`, fields)).status, 403)
  t.equal((await operator.get(`${path}/edit?group=amounts`)).status, 403)
  t.equal((await operator.post(`${path}/recalculate`, { version: '1' })).status, 403)

  const { text } = await operator.get(path)
  t.notMatch(text, 'edit?group=amounts')
  t.match(text, 'edit?group=notes')
  t.match(text, /Only managers and owners can edit this on a guest’s order/)
  t.match((await client('manager').get(path)).text, 'edit?group=amounts')
  t.notMatch((await client('viewer').get(path)).text, 'You cannot edit these')
  t.match((await operator.get('/admin/orders/2')).text, 'edit?group=amounts', 'another order')
  t.same(await operator.call('GET', `/api${path}`), before)
})

t.test('viewers read instructions that they could not follow', async (t) => {
  const order = await client('owner').call(
    'POST',
    '/api/admin/orders',
    newOrder({ status: 'pending' }),
  )
  const read = async (role: 'viewer' | 'manager') =>
    (await client(role).get(`/admin/orders/${order.id}`)).text
  t.match(await read('manager'), 'Mark the order as paid when you have received the payment')
  t.notMatch(await read('viewer'), /Mark the order|id="next-step"/)
})

const PAGES = [
  '/admin',
  '/admin?range=all',
  '/admin/orders',
  '/admin/orders?q=nothing-matches',
  '/admin/account',
  '/qr-test',
  ...STATUSES.map((_, index) => `/admin/orders/${index + 1}`),
  `/admin/orders/${STATUSES.length + 1}`,
]

/** Links and forms of a page, each as a request. */
function listActions(html: string): { method: string; path: string; fields: URLSearchParams }[] {
  const decode = (text: string) => text.replaceAll('&amp;', '&').replace(/#.*$/, '')
  const links = [...html.matchAll(/\s(?:href|hx-get)="(\/(?:admin|qr-test)[^"]*)"/g)].map(
    ([, path = '']) => ({ method: 'GET', path: decode(path), fields: new URLSearchParams() }),
  )
  const forms = [...html.matchAll(/<form\b[^>]*\bmethod="post"[^>]*>.*?<\/form>/gs)].flatMap(
    ([form]) => {
      const fields = new URLSearchParams(
        [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
          ([, name = '', value = '']) => [name, value],
        ),
      )
      const paths = [...form.matchAll(/(?:form)?action="(\/[^"]*)"/g)].map(([, path = '']) => path)
      return paths.map((path) => ({ method: 'POST', path: decode(path), fields }))
    },
  )
  return [...links, ...forms].filter(({ path }) => !/logout|sessions/.test(path))
}

t.test('pages show what works for the role, and nothing else', async (t) => {
  const shown = new Map<Role, Set<string>>()
  // The viewer first: the actions of the others change orders.
  for (const role of ROLES.toReversed()) {
    const paths = new Set<string>()
    for (const page of PAGES) {
      const { status, text } = await client(role).get(page)
      if (page === '/qr-test' && role === 'viewer') {
        t.equal(status, 403)
        continue
      }
      t.equal(status, 200, `${role}: ${page}`)
      for (const { method, path, fields } of listActions(text)) {
        const name = `${method} ${path} ${fields.get('status') ? `status=${fields.get('status') ?? ''}` : ''}`
        // One of the links that differ in the order or the query only
        const route = name.replace(/\d+/g, '1').replace(/\?\S*/, '')
        if (paths.has(route)) continue
        paths.add(route)
        const response =
          method === 'GET' ? await client(role).get(path) : await client(role).post(path, fields)
        t.not(response.status, 403, `${role}: ${name} on ${page}`)
      }
    }
    shown.set(role, paths)
  }
  const shows = (role: Role, pattern: RegExp) =>
    [...(shown.get(role) ?? [])].some((path) => pattern.test(path))
  for (const [pattern, lowest] of [
    [/GET \/admin\/orders\/\d+/, 'viewer'],
    [/GET \/admin\/orders\/new/, 'operator'],
    [/GET \/qr-test/, 'operator'],
    [/POST \/admin\/orders\/bulk/, 'operator'],
    [/GET \/admin\/orders\/\d+\/cancel/, 'operator'],
    [/GET \/admin\/orders\/export/, 'manager'],
    [/POST \/admin\/orders\/\d+\/status.*status=paid/, 'manager'],
    [/GET \/admin\/orders\/\d+\/fulfilment/, 'manager'],
    [/GET \/admin\/settings/, 'manager'],
  ] as const) {
    for (const role of ROLES) {
      t.equal(shows(role, pattern), isAllowed(role, lowest), `${role}: ${String(pattern)}`)
    }
  }
  const settings = async (role: Role) =>
    [
      ...(await client(role).get('/admin/settings/email')).text.matchAll(
        /href="\/admin\/settings\/([a-z-]+)"/g,
      ),
    ].map(([, section]) => section)
  t.same(new Set(await settings('manager')), new Set(['email', 'events']))
  t.same((await settings('owner')).slice(0, 5), [
    'api-keys',
    'audit-log',
    'email',
    'events',
    'people',
  ])
})
