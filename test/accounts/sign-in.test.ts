import { createHmac } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { hash } from '@node-rs/argon2'
import t from 'tap'
import { SECRET, startApp, temporaryFolder } from '../support/app.js'
import {
  ADMIN,
  ADMIN_ACCOUNTS,
  cookieHeader,
  parseSetCookies,
  postLogin,
  signIn,
  verify,
} from '../support/sign-in.js'

const { app, url, log } = await startApp(t, {
  ADMIN_ACCOUNTS,
  LOGIN_LIMIT_PER_CLIENT: '100000',
  LOGIN_LIMIT_PER_ACCOUNT: '100000',
})

const EIGHT_HOURS_MS = 8 * 60 * 60 * 1000

t.test('signs an administrator in and out', async (t) => {
  const login = await postLogin(url)
  t.equal(login.status, 200)
  t.equal(login.headers.get('cache-control'), 'no-store')
  const { admin, token, expiresAt } = login.body
  t.same(admin, { email: ADMIN.email, role: 'owner' })
  t.ok(Math.abs(Date.parse(expiresAt) - Date.now() - EIGHT_HOURS_MS) < 5000)

  const known = await verify(url, token)
  t.equal(known.status, 200)
  t.same(await known.json(), { admin, expiresAt })

  const another = await signIn(url)
  const authorization = `Bearer ${token}`
  const logout = await fetch(`${url}/api/admin/logout`, {
    method: 'POST',
    headers: { authorization },
  })
  t.equal(logout.status, 204)
  t.equal(await logout.text(), '')
  t.equal((await verify(url, token)).status, 401, 'the token is worthless from then on')
  t.equal((await verify(url, another)).status, 200, 'other sessions continue')
  t.match(
    log.filter(({ msg }) => msg === 'sign-in' || msg === 'sign-out'),
    [
      { email: ADMIN.email, outcome: 'succeeded' },
      { email: ADMIN.email, outcome: 'succeeded' },
      { email: ADMIN.email, msg: 'sign-out' },
    ],
  )
})

t.test('accepts a sign-out that announces JSON without a body', async (t) => {
  const { url } = await startApp(t, { ADMIN_ACCOUNTS })
  const headers = {
    authorization: `Bearer ${await signIn(url)}`,
    'content-type': 'application/json',
  }
  const logout = (body?: string) =>
    fetch(`${url}/api/admin/logout`, { method: 'POST', headers, ...(body ? { body } : {}) })
  t.equal((await logout('{')).status, 400)
  t.equal((await logout()).status, 204)
  t.equal((await logout()).status, 401)
})

t.test('ignores the case of the email address, not of the password', async (t) => {
  const shouted = await postLogin(url, { ...ADMIN, email: ADMIN.email.toUpperCase() })
  t.equal(shouted.status, 200)
  t.equal(shouted.body.admin.email, ADMIN.email)
  const { status } = await postLogin(url, { ...ADMIN, password: ADMIN.password.toUpperCase() })
  t.equal(status, 401)
})

t.test('the session cookie is HttpOnly and SameSite, and expires with the session', async (t) => {
  const login = await postLogin(url)
  const cookie = parseSetCookies(login).get('clearwake') ?? ''
  t.match(cookie, /; HttpOnly/)
  t.match(cookie, /; SameSite=Strict/)
  t.match(cookie, /; Path=\/(;|$)/)
  t.notMatch(cookie, /Secure|Domain/)
  t.equal(Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? ''), Date.parse(login.body.expiresAt))
  const device = parseSetCookies(login).get('clearwake-device') ?? ''
  t.match(device, /; HttpOnly/)
  t.match(device, /; SameSite=Strict/)
  t.match(device, /Path=(\/api)?\/admin\/login/)

  const secure = await startApp(t, {
    ADMIN_ACCOUNTS,
    PUBLIC_BASE_URL: 'https://carbon.example.com',
  })
  const cookies = parseSetCookies(await postLogin(secure.url))
  t.match(cookies.get('__Host-clearwake'), /; Path=\/; .*; HttpOnly; Secure; SameSite=Strict/)
  t.match(cookies.get('__Secure-clearwake-device'), /; HttpOnly; Secure; SameSite=Strict/)
  t.equal(cookies.get('clearwake'), undefined)
})

t.test('the cookie gives the same access as the token, and sign-out deletes it', async (t) => {
  const cookie = cookieHeader(await postLogin(url))
  t.equal((await fetch(`${url}/api/admin/verify`, { headers: { cookie } })).status, 200)
  const logout = () =>
    fetch(`${url}/api/admin/logout`, { method: 'POST', headers: { cookie, origin: url } })
  const out = await logout()
  t.equal(out.status, 204)
  t.match(parseSetCookies(out).get('clearwake'), /^clearwake=; .*Expires=Thu, 01 Jan 1970/)
  t.equal((await fetch(`${url}/api/admin/verify`, { headers: { cookie } })).status, 401)
  const again = await logout()
  t.equal(again.status, 401)
  t.match(
    parseSetCookies(again).get('clearwake'),
    /^clearwake=; /,
    'deletes an invalid cookie as well',
  )
})

t.test('never compresses a response with a token', async (t) => {
  // Small responses are never compressed, so the address must be long.
  const email = `${'海'.repeat(60)}@${'海'.repeat(180)}.example.com`
  const { url } = await startApp(t, { ADMIN_ACCOUNTS: ADMIN_ACCOUNTS.replace(ADMIN.email, email) })
  const { encoding, length } = await new Promise<{ encoding?: string; length: number }>(
    (resolve, reject) => {
      const request = httpRequest(
        `${url}/api/admin/login`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'accept-encoding': 'br, gzip' },
        },
        (response) => {
          const { 'content-encoding': encoding, 'content-length': length } = response.headers
          response.resume()
          resolve({ ...(encoding === undefined ? {} : { encoding }), length: Number(length) })
        },
      )
      request.on('error', reject).end(JSON.stringify({ ...ADMIN, email }))
    },
  )
  t.equal(encoding, undefined)
  t.ok(length > 1024)
})

t.test('a wrong email address and a wrong password get the same response', async (t) => {
  const shape = ({ status, headers, body }: Awaited<ReturnType<typeof postLogin>>) => {
    const varying = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    return {
      status,
      headers: [...headers].filter(([name]) => !varying.includes(name)),
      body: { ...body, requestId: '' },
    }
  }
  const wrongPassword = shape(await postLogin(url, { ...ADMIN, password: 'wrong' }))
  const wrongEmail = shape(await postLogin(url, { ...ADMIN, email: 'stranger@example.com' }))
  t.equal(wrongPassword.status, 401)
  t.same(wrongEmail, wrongPassword)
  t.notMatch(JSON.stringify(wrongPassword.headers), /set-cookie/)
})

t.test('a wrong email address takes as long as a wrong password', async (t) => {
  const costly = await hash('a password that costs more', { timeCost: 4 })
  const slow = await startApp(t, {
    ADMIN_ACCOUNTS: `slow@example.com:${costly}`,
    LOGIN_LIMIT_PER_CLIENT: '100000',
    LOGIN_LIMIT_PER_ACCOUNT: '100000',
  })
  const time = async (email: string) => {
    const start = performance.now()
    await postLogin(slow.url, { email, password: 'wrong' })
    return performance.now() - start
  }
  const median = (times: number[]) => times.toSorted((a, b) => a - b)[12] ?? 0
  async function ratio(): Promise<number> {
    const known: number[] = []
    const unknown: number[] = []
    for (let i = 0; i < 25; i++) {
      known.push(await time('slow@example.com'))
      unknown.push(await time(`stranger-${i}@example.com`))
    }
    return median(unknown) / median(known)
  }
  // A difference would show each time; what a busy machine adds does not.
  const ratios: number[] = []
  const isSame = () => ratios.some((one) => one > 0.7 && one < 1.4)
  while (!isSame() && ratios.length < 4) ratios.push(await ratio())
  t.ok(isSame(), `ratios ${ratios.map((one) => one.toFixed(2)).join()}`)
})

t.test('reports every invalid field, and repeats no password', async (t) => {
  const cases: [unknown, string[]][] = [
    [{}, ['email', 'password']],
    [{ email: 'hunter2-hunter2', password: '' }, ['email', 'password']],
    [{ email: 5, password: null }, ['email', 'password']],
    [{ ...ADMIN, password: 'hunter2'.repeat(200) }, ['password']],
    [{ email: `${'a'.repeat(251)}@b.c`, password: 'x' }, ['email']],
    [{ ...ADMIN, remember: true }, ['remember']],
  ]
  for (const [given, paths] of cases) {
    const { status, body } = await postLogin(url, given)
    t.equal(status, 422)
    t.same(
      body.errors.map(({ path }: { path: string }) => path),
      paths,
    )
    t.notMatch(JSON.stringify(body), /hunter2/)
  }
  const large = await postLogin(url, { ...ADMIN, password: 'x'.repeat(20_000) })
  t.equal(large.status, 413)
})

t.test('logs sign-ins, and never what was typed in the wrong field', async (t) => {
  const own = await startApp(t, { ADMIN_ACCOUNTS })
  await postLogin(own.url, { email: 'my-secret@password', password: 'another secret' })
  await postLogin(own.url, { ...ADMIN, password: 'third secret' })
  const token = await signIn(own.url)
  t.match(
    own.log.filter(({ msg }) => msg === 'sign-in'),
    [
      { email: undefined, outcome: 'failed' },
      { email: ADMIN.email, outcome: 'failed' },
      { email: ADMIN.email, outcome: 'succeeded' },
    ],
  )
  const written = JSON.stringify(own.log)
  t.notMatch(written, /secret/)
  t.notOk(written.includes(token) || written.includes(ADMIN.password))
  const metrics = await (await fetch(`${own.url}/metrics`)).text()
  t.match(metrics, /clearwake_sign_ins_total\{outcome="succeeded"\} 1/)
  t.match(metrics, /clearwake_sign_ins_total\{outcome="failed"\} 2/)
})

t.test('rejects forged, expired and revoked tokens', async (t) => {
  const token = await signIn(url)
  const claims = app.jwt.decode<{ sub: string; jti: string; mark: string; exp: number }>(token)
  if (claims === null) throw new Error('the token cannot be read')
  const { sub, jti, mark, exp } = claims
  const [header = '', payload = '', signature = ''] = token.split('.')
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = (head: unknown, body: unknown, key: string) => {
    const text = `${encoded(head)}.${encoded(body)}`
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  }
  const sign = (changes: object, options: object = {}) =>
    app.jwt.sign({ sub, jti, mark, exp, ...changes }, options)
  t.equal((await verify(url, sign({}))).status, 200, 'accepts a valid token')
  for (const [what, wrong] of [
    ['expired', sign({ exp: Math.floor(Date.now() / 1000) - 10 })],
    ['another issuer', sign({}, { iss: 'someone' })],
    ['another algorithm', sign({}, { algorithm: 'HS512' })],
    ['a stranger', sign({ sub: 'stranger@example.com' })],
    ['another password', sign({ mark: 'x'.repeat(22) })],
    ['no session', sign({ jti: 'x'.repeat(43) })],
    ['the secret itself as key', signed({ alg: 'HS256', typ: 'JWT' }, claims, SECRET)],
    ['no signature', `${header}.${payload}.`],
    ['algorithm none', `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`],
    ['cut', token.slice(0, -1)],
    ['edited', `${header}.${encoded({ ...claims, exp: 4e9 })}.${signature}`],
    ['nonsense', 'x'],
  ] as const) {
    t.equal((await verify(url, wrong)).status, 401, what)
  }
})

t.test('the Authorization header takes precedence over the cookie', async (t) => {
  const login = await postLogin(url)
  const cookie = cookieHeader(login)
  const status = async (authorization: string, withCookie = true) =>
    (
      await fetch(`${url}/api/admin/verify`, {
        headers: { authorization, ...(withCookie ? { cookie } : {}) },
      })
    ).status
  for (const wrong of ['Bearer', 'Bearer x', `Bearer ${login.body.token} more`, 'Basic YTpi']) {
    t.equal(await status(wrong), 401, wrong)
  }
  t.equal(await status(`bearer  ${login.body.token}`, false), 200)
  t.equal(
    (
      await fetch(`${url}/api/admin/verify`, {
        headers: { authorization: `Bearer ${login.body.token}`, cookie: 'clearwake=x' },
      })
    ).status,
    200,
  )
})

t.test('removing an account or changing its password ends its sessions', async (t) => {
  const environment = { SESSION_SECRET: SECRET, DATA_DIR: temporaryFolder(t) }
  const credentials = { email: 'other@example.com', password: 'a password of another' }
  const other = `${credentials.email}:${await hash(credentials.password)}`
  const before = await startApp(t, {
    ...environment,
    ADMIN_ACCOUNTS: `${ADMIN_ACCOUNTS}, ${other}`,
  })
  const token = await signIn(before.url)
  const otherToken = await signIn(before.url, credentials)
  const ended = await signIn(before.url)
  await fetch(`${before.url}/api/admin/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ended}` },
  })

  const same = await startApp(t, { ...environment, ADMIN_ACCOUNTS })
  t.equal((await verify(same.url, token)).status, 200, 'a session survives a restart')
  t.equal((await verify(same.url, ended)).status, 401, 'ended sessions stay ended')

  const removed = await startApp(t, { ...environment, ADMIN_ACCOUNTS: other })
  t.equal((await verify(removed.url, token)).status, 401)
  const changed = await startApp(t, {
    ...environment,
    ADMIN_ACCOUNTS: `${ADMIN.email}:${await hash(ADMIN.password)},${other}`,
  })
  t.equal((await verify(changed.url, token)).status, 401)
  t.equal((await verify(changed.url, otherToken)).status, 200, 'sessions of others continue')
})

t.test('normalises the Unicode composition of passwords', async (t) => {
  const password = 'clé de la Méditerranée'
  const composed = await startApp(t, {
    ADMIN_ACCOUNTS: `${ADMIN.email}:${await hash(password.normalize('NFC'))}`,
  })
  const { status } = await postLogin(composed.url, {
    email: ADMIN.email,
    password: password.normalize('NFD'),
  })
  t.equal(status, 200)
})

t.test('rejects sign-ins beyond the hashing capacity with 503', async (t) => {
  // The usual cost, for verification to be slower than the arrival of requests.
  const { url } = await startApp(t, {
    ADMIN_ACCOUNTS: `${ADMIN.email}:${await hash(ADMIN.password)}`,
    LOGIN_LIMIT_PER_CLIENT: '100000',
    LOGIN_LIMIT_PER_ACCOUNT: '100000',
  })
  const agent = new Agent({ maxSockets: 200 })
  t.teardown(() => agent.destroy())
  const attempt = () =>
    new Promise<{ status: number | undefined; retryAfter: string | undefined }>(
      (resolve, reject) => {
        httpRequest(
          `${url}/api/admin/login`,
          { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
          (response) => {
            response.resume()
            const { statusCode: status, headers } = response
            resolve({ status, retryAfter: headers['retry-after'] })
          },
        )
          .on('error', reject)
          .end(JSON.stringify({ ...ADMIN, password: 'wrong' }))
      },
    )
  const responses = await Promise.all(Array.from({ length: 120 }, attempt))
  const refused = responses.filter(({ status }) => status === 503)
  t.ok(refused.length > 0 && refused.length < 120, `${refused.length} refused`)
  t.ok(refused.every(({ retryAfter }) => Number(retryAfter) > 0))
  t.ok(responses.every(({ status }) => status === 401 || status === 503))
  t.equal((await postLogin(url)).status, 200, 'works again afterwards')
})
