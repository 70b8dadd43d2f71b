import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { hashPasswordSync } from '../../src/accounts/password.js'
import { CONFIG_PARTS } from '../../src/config-parts.js'
import { coreConfig } from '../../src/core/config/core-config.js'
import { temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { freePort } from '../support/free-port.js'
import { hostileRequest, type HostileRequest } from '../support/hostile-requests.js'
import { nodeRequest } from '../support/node-request.js'
import { SKIP_WITHOUT_POSTGRES, startPostgres } from '../support/postgres.js'
import { recordingUpstream } from '../support/recording-upstream.js'
import { validCalls } from '../support/valid-calls.js'

const VARIABLES = [coreConfig, ...CONFIG_PARTS].flatMap((part) => Object.keys(part.variables))

/** A unique text that can be searched for. */
const canary = (name: string): string => `canary-${name}-${randomBytes(12).toString('hex')}`

const ADMIN = { email: 'admin@example.com', password: canary('password') }
const HASH = hashPasswordSync(ADMIN.password)

/** Secrets by environment variable. */
const CANARIES = {
  SESSION_SECRET: canary('session-secret-of-32-bytes'),
  SESSION_SECRET_PREVIOUS: canary('session-secret-before-this-one'),
  ADMIN_ACCOUNTS: HASH.split('$').at(-1) ?? '',
  DATABASE_URL: canary('database-password'),
  DATABASE_API_KEY: canary('database'),
  ORDERSOURCE_API_TOKEN: canary('order-source'),
  METRICS_TOKEN: canary('metrics'),
  CHECKOUT_SECRET: canary('checkout-secret-of-32-bytes'),
  SMTP_URL: canary('mail-password'),
  STRIPE_SECRET_KEY: `sk_test_${canary('stripe')}`,
  STRIPE_WEBHOOK_SECRET: `whsec_${canary('stripe-webhooks')}`,
}

/** A text as it may be written: plainly, encoded for a header or an address, or dumped. */
const spellings = (text: string): string[] => [
  text,
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(text).toString('base64url'),
  Buffer.from(text).toString('hex'),
  encodeURIComponent(text),
  [...Buffer.from(text)].join(','),
]

const SPELLINGS = [...Object.entries(CANARIES), ['the password', ADMIN.password] as const].flatMap(
  ([name, text]) => spellings(text).map((spelling) => [name, spelling] as const),
)

/** The names of the secrets that a text gives away. */
const givenAway = (text: string): string[] => [
  ...new Set(SPELLINGS.filter(([, spelling]) => text.includes(spelling)).map(([name]) => name)),
]

interface Run {
  process: ChildProcess
  /** All that it has written, to both of its outputs */
  output: () => string
}

/** Starts something of ours as an operator does, with nothing but the given environment. */
function run(t: Test, file: string, environment: Record<string, string>): Run {
  const { PATH = '' } = process.env
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, distPath(file)], {
    cwd: temporaryFolder(t),
    env: { PATH, LOG_LEVEL: 'trace', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => (output += part.toString()))
  }
  return { process: child, output: () => output }
}

async function serve(t: Test, environment: Record<string, string>) {
  const port = await freePort()
  const running = run(t, 'server.js', { PORT: String(port), ...environment })
  while (!running.output().includes('listening')) {
    if (running.process.exitCode !== null) throw new Error(running.output())
    await sleep(50)
  }
  return { ...running, url: `http://127.0.0.1:${port}` }
}

const UNLIMITED = Object.fromEntries(
  ['RATE', 'QR_RATE', 'LOGIN'].flatMap((name) =>
    ['LIMIT_PER_MINUTE', 'LIMIT_PER_CLIENT', 'LIMIT_PER_ACCOUNT']
      .map((limit) => `${name}_${limit}`)
      .filter((limit) => VARIABLES.includes(limit))
      .map((limit): [string, string] => [limit, '1000000']),
  ),
)

/** Calls every route with valid and invalid requests and every type of credential. */
async function callEverything(url: string, token: string): Promise<string[]> {
  const toVisibleText: string[] = []
  const send = async ({ method, address, headers, body }: HostileRequest) => {
    const content = body === null ? undefined : Buffer.from(body, 'latin1')
    const response = await nodeRequest(url + address, {
      method,
      headers: { ...(content ? { 'content-length': String(content.length) } : {}), ...headers },
      ...(content ? { body: content } : {}),
    })
    const text = response.body.toString('latin1')
    toVisibleText.push(`${JSON.stringify(response.headers)}\n${text}`)
    return text
  }
  const get = (address: string) => send({ method: 'GET', address, headers: {}, body: null })

  const [asset = '/'] = /\/assets\/site[^"]+/.exec(await get('/')) ?? []
  const code = await send({
    method: 'POST',
    address: '/api/qr-code/generate',
    headers: { 'content-type': 'application/json' },
    body: '{"calculatorType":"custom","calculatorData":{"amount":1,"unit":"t"},"vessel":{"name":"A"}}',
  })
  const { url: link } = JSON.parse(code) as { url: string }
  const calls = validCalls({
    asset,
    link: new URL(link),
    offsetOrder: '1',
    apiKey: '1',
    guestOrder: '/o/AAAAAAAAAAAAAAAAAAAAAA',
    certificate: '/c/AAAAAAAAAAAAAAAAAAAAAA',
    mail: '/admin/orders/1/mails/mail_1',
    credentials: ADMIN,
  })
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
  const who: Record<string, string>[] = [
    {},
    bearer(token),
    { cookie: `clearwake=${token}`, 'sec-fetch-site': 'same-origin' },
    // Secrets in the wrong place must not be returned or logged either.
    bearer(CANARIES.METRICS_TOKEN),
    bearer(CANARIES.ORDERSOURCE_API_TOKEN),
    { cookie: `clearwake=${CANARIES.SESSION_SECRET}`, 'x-forwarded-for': '<canary>' },
    {
      authorization: `Basic ${Buffer.from(`${ADMIN.email}:${ADMIN.password}`).toString('base64')}`,
    },
    bearer(`${token.slice(0, -3)}abc`),
  ]
  for (const [route, valid] of calls) {
    if (/logout|login/.test(route)) continue
    for (const headers of who) {
      const [request] = fc.sample(hostileRequest(valid, 5), 1)
      if (request) await send({ ...request, headers: { ...headers, ...request.headers } })
    }
  }
  for (const [email, password] of [
    [ADMIN.email, 'wrong'],
    [ADMIN.password, ADMIN.password],
    ['stranger@example.com', ADMIN.password],
    [`${ADMIN.password}@example.com`, ADMIN.email],
  ] as const) {
    for (const [address, type, body] of [
      ['/api/admin/login', 'application/json', JSON.stringify({ email, password })],
      ['/api/admin/login', 'application/json', `{"password":"${password}"`],
      ['/api/admin/login', 'text/plain', password],
      [
        `/admin/login?password=${ADMIN.password}`,
        'application/x-www-form-urlencoded',
        new URLSearchParams({ email: ADMIN.email, password: `${password}x` }).toString(),
      ],
    ] as const) {
      await send({ method: 'POST', address, headers: { 'content-type': type }, body })
    }
  }
  await send({
    method: 'GET',
    address: '/metrics',
    headers: bearer(CANARIES.METRICS_TOKEN),
    body: null,
  })
  return toVisibleText
}

const failures: RequestListener[] = [
  (_request, response) => response.writeHead(401).end(CANARIES.ORDERSOURCE_API_TOKEN),
  (request) => request.socket.destroy(),
  (_request, response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<b>'),
  (_request, response) => response.socket?.end('nonsense\r\n\r\n'),
]

t.test('every secret of the configuration has a canary', async (t) => {
  const secret = /SECRET|TOKEN|KEY|PASSWORD|ACCOUNTS|CREDENTIAL|DATABASE_URL|SMTP_URL/
  const names = VARIABLES.filter((name) => secret.test(name) && !name.includes('LIMIT'))
  t.strictSame(names.toSorted(), Object.keys(CANARIES).toSorted())
})

t.test('no secret is logged, returned or counted in a metric', SKIP_WITHOUT_POSTGRES, async (t) => {
  const postgres = await startPostgres(t)
  const databaseUrl = new URL(await postgres.createDatabase())
  databaseUrl.password = CANARIES.DATABASE_URL
  const upstream = await recordingUpstream(t)
  const service = await serve(t, {
    ...UNLIMITED,
    ...CANARIES,
    ADMIN_ACCOUNTS: `${ADMIN.email}:${HASH}`,
    DATABASE_URL: databaseUrl.href,
    DATABASE_API_KEY: '',
    ORDERSOURCE_BASE_URL: upstream.url,
    SMTP_URL: `smtp://canary:${CANARIES.SMTP_URL}@127.0.0.1:9`,
    MAIL_FROM: 'offset@example.com',
    PUBLIC_BASE_URL: 'http://127.0.0.1:3000',
  })
  const login = await fetch(`${service.url}/api/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN),
  })
  const { token } = (await login.json()) as { token: string }
  t.type(token, 'string')

  const toVisibleText = await callEverything(service.url, token)
  for (const failure of failures) {
    upstream.respond = failure
    for (const method of ['GET', 'POST']) {
      const address = `${service.url}/api/ordersource/portfolios`
      const { headers, body } = await nodeRequest(address, {
        method,
        headers: { authorization: `Bearer ${token}` },
      })
      toVisibleText.push(JSON.stringify(headers) + body.toString())
    }
  }
  await postgres.kill()
  toVisibleText.push(...(await callEverything(service.url, token)))
  t.ok(toVisibleText.length > 1_000, `${toVisibleText.length} answers`)
  for (const response of toVisibleText) {
    const names = givenAway(response)
    if (names.length > 0) t.strictSame(names, [], response.slice(0, 500))
  }
  service.process.kill('SIGTERM')
  await once(service.process, 'exit')
  const output = service.output()
  t.match(output, /PostgreSQL is not available/)
  t.ok(output.split('\n').length > 1_000, 'is logged')
  t.strictSame(givenAway(output), [])
  t.notOk(output.includes(token.split('.')[2] ?? token), 'nor is a session’s token')
})

t.test('a NocoDB error does not disclose the token', async (t) => {
  const database = await recordingUpstream(t, '')
  database.respond = ({ headers }, response) => {
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ msg: `wrong token ${String(headers['xc-token'])}` }))
  }
  const environment = {
    DATABASE_BASE_URL: database.url,
    DATABASE_BASE_ID: 'base',
    DATABASE_ORDERS_TABLE_ID: 'table',
    DATABASE_API_KEY: CANARIES.DATABASE_API_KEY,
  }
  const setUp = run(t, 'commands/nocodb-setup.js', environment)
  await once(setUp.process, 'exit')
  t.not(setUp.output(), '')
  t.strictSame(givenAway(setUp.output()), [])

  const port = String(await freePort())
  const service = run(t, 'server.js', {
    ...environment,
    PORT: port,
    SESSION_SECRET: CANARIES.SESSION_SECRET,
    ADMIN_ACCOUNTS: `${ADMIN.email}:${HASH}`,
  })
  const isReady = () => database.requests.length >= 3 && service.output().includes('listening')
  while (!isReady() && service.process.exitCode === null) await sleep(50)
  t.ok(database.requests.some(({ headers }) => JSON.stringify(headers).includes('canary-database')))
  if (service.process.exitCode === null) {
    const { body } = await nodeRequest(`http://127.0.0.1:${port}/readyz`)
    t.strictSame(givenAway(body.toString()), [])
    service.process.kill('SIGTERM')
    await once(service.process, 'exit')
  }
  t.not(service.output(), '')
  t.strictSame(givenAway(service.output()), [])
})

t.test('a failed start names the variable, not its value', async (t) => {
  const bad = canary('bad')
  const withPassword = (scheme: string) => `${scheme}://user:${bad}@example.com/?x=${bad}`
  const environment = {
    PORT: bad,
    PUBLIC_BASE_URL: withPassword('https'),
    CHECKOUT_URL: withPassword('ftp'),
    STRIPE_SECRET_KEY: `pk_${bad}`,
    STRIPE_WEBHOOK_SECRET: bad,
    STRIPE_API_URL: withPassword('http'),
    STRIPE_CHECKOUT_URL: withPassword('http'),
    STRIPE_CHECK_INTERVAL: bad,
    SESSION_SECRET: bad.slice(0, 30),
    SESSION_SECRET_PREVIOUS: bad.slice(0, 30),
    ADMIN_ACCOUNTS: `admin@example.com:${bad}`,
    DATABASE_URL: withPassword('http'),
    REDIS_URL: withPassword('redis'),
    SMTP_URL: withPassword('smtps'),
    MAIL_FROM: `${bad}>`,
    ORDERSOURCE_BASE_URL: withPassword('https'),
    ORDERSOURCE_API_TOKEN: `${bad} ${bad}`,
    ORDERSOURCE_PUBLIC_ROUTES: `${bad} ${bad}`,
    DATABASE_BASE_URL: withPassword('https'),
    DATABASE_BASE_ID: `${bad}/`,
    DATABASE_API_KEY: `${bad} ${bad}`,
    DATABASE_ORDERS_TABLE_ID: `${bad}/`,
    NOCODB_COLUMNS: bad,
    TRUST_PROXY: bad,
    LOG_LEVEL: bad,
    TIME_ZONE: bad,
    CURRENCY: bad,
    RATE_LIMIT_PER_MINUTE: '1e400',
  }
  const service = run(t, 'server.js', environment)
  await once(service.process, 'exit')
  t.equal(service.process.exitCode, 1)
  for (const name of Object.keys(environment)) {
    t.match(service.output(), new RegExp(`^ {2}${name} `, 'm'), name)
  }
  const parts = spellings(bad.slice(0, 30))
  t.notOk(parts.some((part) => service.output().includes(part)))
  t.notMatch(service.output(), /\n\s+at /, 'without a stack')
})
