import t, { type Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { PORTFOLIOS } from '../../src/demo/fake-provider/portfolios.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { nodeRequest, type NodeResponse } from '../support/node-request.js'
import { fillStore } from '../support/order-store.js'
import { manyOrders } from '../support/portal.js'
import { recordingUpstream, upstreamEnvironment } from '../support/recording-upstream.js'
import { routeTable } from '../support/route-table.js'
import { ADMIN, ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { checkStore } from '../support/store-check.js'
import { toRequest, validCalls, type Call } from '../support/valid-calls.js'

const PUBLIC_BASE_URL = 'https://carbon.example.com'
/** They keep nothing and tell everybody the same. */
const HARMLESS =
  /^POST \/api\/(?:calculators\/\w+\/estimate|qr-code\/generate|offset-quotes|payments\/stripe\/webhook)$/
/** The token in the path is what allows them, and no other site knows it. */
const SECRET_PATH = /^POST \/(?:o|admin\/invitation|admin\/password-reset)\/:token/
/** They need no session, so clients that are no browsers may call them. */
const SESSIONLESS =
  /^POST \/(?:(?:api\/)?admin\/login(?:\/verify|\/passkey(?:\/options)?)?|admin\/forgot-password|offset)$/

async function start(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const upstream = await recordingUpstream(t)
  upstream.respond = (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ portfolios: PORTFOLIOS }))
  }
  const DATA_DIR = temporaryFolder(t)
  await fillStore(getDatabasePath(DATA_DIR), 'Europe/Lisbon', manyOrders(12))
  const { app, url } = await startApp(t, {
    ADMIN_ACCOUNTS,
    DATA_DIR,
    TIME_ZONE: 'Europe/Lisbon',
    PUBLIC_BASE_URL,
    LOG_LEVEL: 'silent',
    LOGIN_LIMIT_PER_CLIENT: '1000',
    ...upstreamEnvironment(upstream.url),
    ...environment,
  })
  const token = await signIn(url)
  const code = await app.inject({
    method: 'POST',
    url: '/api/qr-code/generate',
    payload: {
      calculatorType: 'custom',
      calculatorData: { amount: 1, unit: 't' },
      vessel: { name: 'Eendracht' },
    },
  })
  const calls = validCalls({
    link: new URL(code.json<{ url: string }>().url),
    asset: app.asset('site.css'),
    guestOrder: '/o/AAAAAAAAAAAAAAAAAAAAAA',
    certificate: '/c/AAAAAAAAAAAAAAAAAAAAAA',
    mail: '/admin/orders/1/mails/mail_1',
    offsetOrder: '1',
    apiKey: '1',
    credentials: ADMIN,
  })
  const routes = new Set(routeTable(app).map(({ method, path }) => `${method} ${path}`))
  t.ok(
    [...routes].every((route) => calls.has(route)),
    'every route is called',
  )

  /** Sends a call for the first order. */
  function send(call: Call, headers: Record<string, string>): Promise<NodeResponse> {
    const { path, body, ...request } = toRequest(call, '1')
    return nodeRequest(url + path, {
      method: request.method,
      headers: { ...request.headers, ...headers },
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    })
  }
  const cookie = `__Host-clearwake=${token}`
  const orders = async () => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${url}/api/admin/orders?pageSize=100`, { headers })).json()
  }
  return { url, calls, send, cookie, orders, upstream, DATA_DIR }
}

const FOREIGN: Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site', origin: PUBLIC_BASE_URL },
  { 'sec-fetch-site': 'cross-site', origin: PUBLIC_BASE_URL },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'http://carbon.example.com' },
  { origin: 'https://carbon.example.com.evil.example' },
  { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
  { origin: 'https://evil.example', referer: PUBLIC_BASE_URL },
]

t.test('no other site can change anything in a signed-in browser', async (t) => {
  const { calls, send, cookie, orders, upstream } = await start(t)
  const before = await orders()
  const accepted: string[] = []
  for (const [route, [call]] of calls) {
    if (call === undefined || /^(?:GET|HEAD|OPTIONS) /.test(route)) continue
    if (HARMLESS.test(route) || SECRET_PATH.test(route)) continue
    for (const headers of [...FOREIGN, ...(SESSIONLESS.test(route) ? [] : [{}])]) {
      const response = await send(call, { cookie, ...headers })
      const isRejected = response.status === 403 && response.headers['set-cookie'] === undefined
      if (!isRejected) accepted.push(`${route} ${JSON.stringify(headers)}: ${response.status}`)
    }
  }
  t.same(accepted, [])
  t.strictSame(await orders(), before)
  t.strictSame(upstream.requests, [], 'sends nothing to the provider')
})

t.test('GET changes nothing, from any site', async (t) => {
  const { calls, send, cookie, orders, upstream, DATA_DIR } = await start(t)
  const before = await orders()
  const failures: string[] = []
  for (const [route, valid] of calls) {
    if (!/^(?:GET|HEAD) /.test(route)) continue
    for (const call of valid) {
      const { status } = await send(call, { cookie, 'sec-fetch-site': 'cross-site' })
      if (status >= 500) failures.push(`${route}: ${status}`)
    }
  }
  t.same(failures, [])
  t.strictSame(await orders(), before)
  t.ok(upstream.requests.every(({ method }) => method === 'GET' || method === 'HEAD'))
  checkStore(getDatabasePath(DATA_DIR))
})

const EVIL = {
  host: 'evil.example',
  forwarded: 'for=1.2.3.4;host=evil.example;proto=http',
  'x-forwarded-for': '1.2.3.4',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'http',
  'x-forwarded-port': '666',
  'x-forwarded-prefix': '/evil.example',
  'x-forwarded-server': 'evil.example',
  'x-host': 'evil.example',
  'x-original-host': 'evil.example',
  'x-original-url': '/evil.example',
  'x-rewrite-url': '/evil.example',
  'x-http-method-override': 'DELETE',
  'x-method-override': 'DELETE',
}

t.test('the Host header appears in no response', async (t) => {
  const failures: string[] = []
  for (const TRUST_PROXY of ['false', 'true']) {
    const { calls, send, cookie } = await start(t, { TRUST_PROXY })
    for (const [route, [call]] of calls) {
      // Metrics are for this machine, which a request through a proxy is not from.
      if (call === undefined || /logout|metrics/.test(route)) continue
      // A sign-in would end the session.
      const own: Record<string, string> = route.includes('login') ? {} : { cookie }
      own.origin = PUBLIC_BASE_URL
      const { status, headers, body } = await send(call, { ...own, ...EVIL })
      const text = JSON.stringify(headers) + body.toString()
      if (/evil\.example|http:\/\/carbon|:666/.test(text)) failures.push(`${route}: ${text}`)
      const plain = await send(call, own)
      // Some calls are rejected the second time.
      if (/^(?:GET|HEAD) /.test(route) && status !== plain.status) {
        failures.push(`${route}: ${status} instead of ${plain.status}`)
      }
      if (/domain/i.test(String(headers['set-cookie']))) failures.push(`${route}: cookie domain`)
    }
  }
  t.same(failures, [])
})

t.test('private responses are not cached, and no page can be framed', async (t) => {
  const { url, calls, send, cookie } = await start(t)
  const responses: [string, NodeResponse][] = []
  for (const [route, [call]] of calls) {
    if (call === undefined || route.includes('logout')) continue
    const session = route.includes('login') ? {} : { cookie, origin: PUBLIC_BASE_URL }
    for (const who of [{}, session]) {
      responses.push([route, await send(call, who)])
    }
  }
  for (const path of ['/nothing', '/admin/nothing', '/api/nothing', '/assets/nothing', '/%ff']) {
    responses.push([`GET ${path}`, await nodeRequest(url + path)])
    responses.push([`PUT ${path}`, await nodeRequest(url + path, { method: 'PUT' })])
  }
  const isSafe = ([route, { status, headers }]: [string, NodeResponse]): boolean => {
    const isAsset = route.endsWith('/*') && !route.includes('ordersource') && status < 400
    const isPreview = route.endsWith('/preview.png') && status < 400
    const allowed = isAsset
      ? ['public, max-age=31536000, immutable']
      : isPreview
        ? ['public, max-age=86400']
        : / \/(?:api\/|admin)/.test(route)
          ? ['no-store']
          : ['private, no-cache', 'no-store']
    return (
      allowed.includes(String(headers['cache-control'])) &&
      String(headers['content-security-policy']).includes("frame-ancestors 'none'") &&
      headers['x-frame-options'] === 'DENY' &&
      headers['access-control-allow-origin'] === undefined
    )
  }
  t.ok(responses.length > 100)
  t.same(
    responses.filter((one) => !isSafe(one)).map(([route, { headers }]) => [route, headers]),
    [],
  )
})
