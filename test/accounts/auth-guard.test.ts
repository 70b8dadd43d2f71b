import type { FastifyInstance, FastifyRequest } from 'fastify'
import t from 'tap'
import { createAccount } from '../support/accounts.js'
import { startApp } from '../support/app.js'
import { rawRequest } from '../support/raw-http.js'
import { routeTable } from '../support/route-table.js'
import { ADMIN, ADMIN_ACCOUNTS, cookieHeader, postLogin, signIn } from '../support/sign-in.js'

const READ = { config: { permission: 'orders:read' } } as const

/** Whether a route needs no sign-in. */
const isOpen = (path: string): boolean =>
  /^\/(?:api\/)?admin\/(?:login(?:\/verify|\/passkey(?:\/options)?)?|forgot-password|invitation\/:token|password-reset\/:token)$/.test(
    path,
  )

const { app, url } = await startApp(t, { ADMIN_ACCOUNTS })

async function getStatus(base: string, method: string, path: string): Promise<number> {
  const response = await rawRequest(
    base,
    `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
  )
  return Number(response.split(' ')[1])
}

t.test('every administrator route but the sign-in rejects anonymous requests', async (t) => {
  const closed = routeTable(app)
    .filter(({ path }) => /^\/(api\/)?admin/i.test(path))
    .filter(({ path }) => !isOpen(path))
  t.ok(closed.length >= 3, 'there are some')
  for (const { method, path } of closed) {
    // Page requests are redirected to the sign-in.
    const isPage = path.startsWith('/admin') && ['GET', 'HEAD'].includes(method)
    const status = await getStatus(url, method, path.replace(/:\w+/g, '1'))
    t.equal(status, isPage ? 303 : 401, `${method} ${path}`)
  }
})

t.test('an anonymous response does not reveal what exists', async (t) => {
  for (const [method, path] of [
    ['GET', '/api/admin/nothing'],
    ['PUT', '/api/admin/orders'],
    ['GET', '/api/%61dmin/nothing'],
    ['GET', '/admin/nothing'],
    ['PUT', '/admin'],
  ] as const) {
    t.equal(await getStatus(url, method, path), 401, `${method} ${path}`)
  }
  for (const [path, allow] of [
    ['/api/admin/login', 'POST'],
    ['/api/%61dmin/login?x=1', 'POST'],
    ['/admin/login', 'GET, HEAD, POST'],
  ] as const) {
    const wrong = await fetch(url + path, { method: 'DELETE' })
    t.equal(wrong.status, 405, `${path}, which everybody knows`)
    t.equal(wrong.headers.get('allow'), allow)
  }
  const headers = { authorization: `Bearer ${await signIn(url)}` }
  t.equal((await fetch(`${url}/api/admin/nothing`, { headers })).status, 404)
  t.equal((await fetch(`${url}/api/admin/orders`, { method: 'PUT', headers })).status, 405)
})

t.test('guards routes added later, however they are requested', async (t) => {
  let ran = 0
  const handler = async () => {
    ran++
    return { secret: true }
  }
  const countRun = async () => {
    ran++
  }
  const pages = async (app: FastifyInstance) => {
    app.get('/api/admin/plain', READ, handler)
    app.get('/admin/plain', READ, handler)
    app.get('/api/Admin/shouted', READ, handler)
    app.get('/api/admin*', READ, handler)
    app.get('/api/admin/hooked', { ...READ, onRequest: countRun }, handler)
    app.route({ method: ['PUT', 'DELETE'], url: '/api/admin/several', ...READ, handler })
    await app.register(
      async (scope) => {
        scope.get('/', READ, handler)
        scope.post(
          '/:id',
          { config: { permission: 'orders:write', rateLimit: { max: 3, timeWindow: '1 minute' } } },
          handler,
        )
      },
      { prefix: '/admin/things' },
    )
    app.get('/:page/:part', READ, handler)
    app.get('/api/administration', async () => ({ secret: false }))
    app.get('/api/admin/open', { config: { public: true } }, async () => ({ secret: false }))
  }
  const { url: base } = await startApp(t, { ADMIN_ACCOUNTS }, { pages })

  for (const [method, path] of [
    ['GET', '/api/admin/plain'],
    ['HEAD', '/api/admin/plain'],
    ['GET', '/api/%61dmin/plain'],
    ['GET', '/%61pi/admin/pl%61in'],
    ['GET', '/api/admin/plain?x=/open'],
    ['GET', 'http://localhost/api/admin/plain'],
    ['GET', '/admin/plain'],
    ['GET', '/api/Admin/shouted'],
    ['GET', '/api/admin/anything/else'],
    ['GET', '/api/admin/hooked'],
    ['PUT', '/api/admin/several'],
    ['DELETE', '/api/admin/several'],
    ['GET', '/admin/things'],
    ['GET', '/admin/things/'],
    ['HEAD', '/admin/things/'],
    ['GET', '/admin/caught'],
    ['GET', '/%61dmin/caught'],
    ['GET', '/Admin/caught'],
  ] as const) {
    t.equal(await getStatus(base, method, path), 401, `${method} ${path}`)
  }
  t.equal(ran, 0, 'and nothing of theirs has run')

  const statuses = []
  for (let i = 0; i < 5; i++) statuses.push(await getStatus(base, 'POST', '/admin/things/1'))
  t.same(statuses, [401, 401, 401, 429, 429], 'rejected requests count')

  t.equal(await getStatus(base, 'GET', '/api/administration'), 200)
  t.equal(await getStatus(base, 'GET', '/api/admin/open'), 200)
  t.equal(await getStatus(base, 'GET', '/guest/caught'), 200)
  const headers = { authorization: `Bearer ${await signIn(base)}` }
  for (const path of ['/api/admin/plain', '/admin/plain', '/admin/things/', '/admin/caught']) {
    t.equal((await fetch(base + path, { headers })).status, 200, path)
  }
})

t.test('redirects anonymous page requests to the sign-in', async (t) => {
  const pages = async (app: FastifyInstance) => {
    app.get('/admin/plain', READ, async () => 'secret')
  }
  const own = await startApp(t, { ADMIN_ACCOUNTS }, { pages })
  const response = await fetch(`${own.url}/admin/plain`)
  t.equal(response.status, 401)
  t.match(response.headers.get('content-type'), /^text\/html/)
  t.match(await response.text(), /[Ss]ign in/)
})

t.test('passes the user to the handler', async (t) => {
  const toUser = ({ principal }: FastifyRequest) =>
    principal?.type === 'user' ? { email: principal.email, role: principal.role } : {}
  const pages = async (app: FastifyInstance) => {
    app.get('/api/admin/me', READ, async (request) => toUser(request))
    app.get('/api/anybody', async (request) => toUser(request))
  }
  const { url: base } = await startApp(t, { ADMIN_ACCOUNTS }, { pages })
  const headers = { authorization: `Bearer ${await signIn(base)}` }
  t.same(await (await fetch(`${base}/api/admin/me`, { headers })).json(), {
    email: 'admin@example.com',
    role: 'owner',
  })
  t.same(await (await fetch(`${base}/api/anybody`, { headers })).json(), {}, 'not on public routes')
})

t.test('accepts changes by cookie from the same origin only', async (t) => {
  const pages = async (app: FastifyInstance) => {
    app.post('/api/admin/change', READ, async () => ({ changed: true }))
    app.get('/api/admin/look', READ, async () => ({}))
  }
  const environment = { ADMIN_ACCOUNTS, PUBLIC_BASE_URL: 'http://carbon.example.com' }
  const { url: base } = await startApp(t, environment, { pages })
  const login = await postLogin(base)
  const cookie = cookieHeader(login)
  const change = async (headers: Record<string, string>) =>
    (await fetch(`${base}/api/admin/change`, { method: 'POST', headers })).status

  for (const [headers, status] of [
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ origin: 'http://carbon.example.com' }, 200],
    [{ origin: base }, 200],
    [{}, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://carbon.example.com' }, 403],
    [{ origin: 'https://carbon.example.com' }, 403],
    [{ origin: 'http://carbon.example.com.evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ referer: 'http://carbon.example.com/admin' }, 403],
  ] as const) {
    t.equal(await change({ cookie, ...headers }), status, JSON.stringify(headers))
  }
  const refused = await fetch(`${base}/api/admin/change`, { method: 'POST', headers: { cookie } })
  t.match(await refused.json(), { status: 403, detail: /Bearer.*Origin/ }, 'explains what to send')
  t.equal(
    await change({
      authorization: `Bearer ${login.body.token}`,
      'sec-fetch-site': 'cross-site',
    }),
    200,
    'a bearer token is nothing that a browser sends by itself',
  )
  const look = await fetch(`${base}/api/admin/look`, {
    headers: { cookie, 'sec-fetch-site': 'cross-site' },
  })
  t.equal(look.status, 200, 'looking changes nothing')
})

t.test('rejects cross-site sign-in and sign-out', async (t) => {
  for (const foreign of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    const login = await postLogin(url, undefined, foreign)
    t.equal(login.status, 403)
    t.same(login.headers.getSetCookie(), [])
    const own = await postLogin(url)
    const logout = await fetch(`${url}/api/admin/logout`, {
      method: 'POST',
      headers: { cookie: cookieHeader(own), ...foreign },
    })
    t.equal(logout.status, 403)
    // SameSite withholds the cookie; the response must not delete it either.
    const without = await fetch(`${url}/api/admin/logout`, { method: 'POST', headers: foreign })
    t.equal(without.status, 401)
    for (const { headers } of [logout, without]) t.same(headers.getSetCookie(), [])
    const { status } = await fetch(`${url}/api/admin/verify`, {
      headers: { cookie: cookieHeader(own) },
    })
    t.equal(status, 200, 'still logged in')
  }
})

t.test('over HTTPS, the origin must be HTTPS', async (t) => {
  const secure = await startApp(t, {
    ADMIN_ACCOUNTS,
    PUBLIC_BASE_URL: 'https://carbon.example.com',
  })
  const login = await postLogin(secure.url, undefined, { origin: 'https://carbon.example.com' })
  t.equal(login.status, 200)
  const plain = await postLogin(secure.url, undefined, { origin: secure.url })
  t.equal(plain.status, 403)
})

t.test('a route that declares no permission prevents the start', async (t) => {
  const pages = async (app: FastifyInstance) => {
    for (const path of ['/admin/plain', '/api/admin/plain', '/:page']) {
      t.throws(() => app.get(path, async () => 'secret'), { message: /declares no permission/ })
    }
  }
  await startApp(t, {}, { pages })
})

t.test('a refused request is logged with its user or API key', async (t) => {
  const started = await startApp(t, { ADMIN_ACCOUNTS })
  const { email, password } = await createAccount(started, 'viewer')
  const by = { actor: ADMIN.email, address: null }
  const { key } = await started.app.apiKeys.create({ name: 'Shop', scopes: ['orders:read'] }, by)
  for (const token of [await signIn(started.url, { email, password }), key]) {
    const response = await fetch(`${started.url}/api/admin/orders/export`, {
      headers: { authorization: `Bearer ${token}` },
    })
    t.equal(response.status, 403)
  }
  const refused = started.log.filter(({ msg }) => msg === 'permission refused')
  const details = { client: '127.0.0.1', permission: 'orders:export' }
  t.match(refused, [
    { actor: email, ...details },
    { actor: 'API key “Shop”', ...details },
  ])
  t.equal(refused.length, 2)
  t.ok(refused.every(({ reqId }) => typeof reqId === 'string'))
})
