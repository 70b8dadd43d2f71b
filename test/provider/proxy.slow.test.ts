import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app.js'
import { ConfigError } from '../../src/core/config/config-part.js'
import { createSecretRedactor } from '../../src/provider/redact.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { freePort } from '../support/free-port.js'
import { nodeRequest, type NodeResponse } from '../support/node-request.js'
import { rawRequest } from '../support/raw-http.js'
import {
  recordingUpstream,
  UPSTREAM_TOKEN,
  upstreamEnvironment,
} from '../support/recording-upstream.js'
import { ADMIN_ACCOUNTS, cookieHeader, postLogin, signIn } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

const MOUNT = '/api/ordersource'

/** Starts the service with a recording provider and signs in an administrator. */
async function startProxy(t: Test, more: NodeJS.ProcessEnv = {}, basePath = '/v1') {
  const upstream = await recordingUpstream(t, basePath)
  const started = await startApp(t, {
    ADMIN_ACCOUNTS,
    ORDERSOURCE_PUBLIC_ROUTES: 'GET /portfolios?fresh',
    ...upstreamEnvironment(upstream.url, more),
  })
  const token = await signIn(started.url)
  return { ...started, upstream, bearer: { authorization: `Bearer ${token}` } }
}

let fresh = 0
/** A public path that no guest has requested yet, because guests share responses. */
const freshPath = () => `${MOUNT}/portfolios?fresh=${++fresh}`

const getProblem = ({ body }: NodeResponse): Record<string, unknown> =>
  JSON.parse(body.toString()) as Record<string, unknown>

// Authorisation

t.test('lets guests read the portfolios only', async (t) => {
  const { url, upstream } = await startProxy(t)
  for (const [method, path, status] of [
    ['GET', '/portfolios', 200],
    ['HEAD', '/portfolios', 200],
    ['GET', '/portfolios?expanded', 200],
    ['GET', '/%70ortfolios', 200],
    ['POST', '/portfolios', 401],
    ['OPTIONS', '/portfolios', 401],
    ['GET', '/portfolios/', 401],
    ['GET', '/portfolios/1', 401],
    ['GET', '/Portfolios', 401],
    ['GET', '/portfolios%20', 401],
    ['GET', '', 401],
    ['GET', '/', 401],
    ['GET', '/offset-orders', 401],
    ['HEAD', '/offset-orders', 401],
    ['POST', '/offset-orders', 401],
    ['GET', '/offset-orders/1', 401],
    ['DELETE', '/offset-orders/1', 401],
    ['PUT', '/anything/else', 401],
    ['PATCH', '/anything', 401],
    ['GET', '/offset-orders?x=/portfolios', 401],
    ['GET', '/portfolios%3fx', 400],
    ['GET', '/offset-orders/../portfolios', 400],
    ['TRACE', '/portfolios', 405],
  ] as const) {
    const before = upstream.requests.length
    const raw = await rawRequest(
      url,
      `${method} ${MOUNT}${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
    )
    t.equal(Number(raw.split(' ')[1]), status, `${method} ${path}`)
    if (status === 405) t.match(raw, /^allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r$/im)
    const isFirst = method === 'GET' && path === '/portfolios'
    t.equal(upstream.requests.length - before, isFirst ? 1 : 0, `${method} ${path}`)
  }
})

t.test('lets administrators call every route, with a token or a same-origin cookie', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  const cookie = cookieHeader(await postLogin(url))
  for (const [method, headers, status] of [
    ['GET', bearer, 200],
    ['POST', bearer, 200],
    ['DELETE', bearer, 200],
    ['GET', { cookie }, 200],
    ['POST', { cookie, 'sec-fetch-site': 'same-origin' }, 200],
    ['POST', { cookie, origin: url }, 200],
    ['POST', { cookie }, 403],
    ['POST', { cookie, 'sec-fetch-site': 'cross-site' }, 403],
    ['DELETE', { cookie, 'sec-fetch-site': 'same-site' }, 403],
    ['POST', { cookie, origin: 'https://evil.example' }, 403],
    ['POST', { authorization: 'Bearer nonsense', cookie }, 401],
    ['GET', { authorization: `Bearer ${UPSTREAM_TOKEN}` }, 401],
  ] as const) {
    const before = upstream.requests.length
    const response = await nodeRequest(`${url}${MOUNT}/offset-orders`, {
      method,
      headers: { ...headers },
    })
    t.equal(response.status, status, `${method} ${Object.keys(headers).join()}`)
    t.equal(upstream.requests.length - before, status === 200 ? 1 : 0)
  }
})

t.test('applies the configured public routes', async (t) => {
  const { url, upstream } = await startProxy(t, {
    ORDERSOURCE_PUBLIC_ROUTES: 'get /catalogue/all, POST /quotes,HEAD /state,GET /a%20b',
  })
  for (const [method, path, status] of [
    ['GET', '/catalogue/all', 200],
    ['HEAD', '/catalogue/all', 200],
    ['POST', '/quotes', 200],
    ['HEAD', '/state', 200],
    ['GET', '/a%20b', 200],
    ['GET', '/state', 401],
    ['GET', '/quotes', 401],
    ['GET', '/portfolios', 401],
    ['GET', '/catalogue', 401],
  ] as const) {
    const before = upstream.requests.length
    t.equal(
      (await nodeRequest(`${url}${MOUNT}${path}`, { method })).status,
      status,
      `${method} ${path}`,
    )
    const isSent = status === 200 && !(method === 'HEAD' && path === '/catalogue/all')
    t.equal(upstream.requests.length - before, isSent ? 1 : 0)
  }

  const closed = await startProxy(t, { ORDERSOURCE_PUBLIC_ROUTES: 'none' })
  t.equal((await nodeRequest(`${closed.url}${MOUNT}/portfolios`)).status, 401)
})

t.test('counts rejected requests towards the rate limit', async (t) => {
  const { url } = await startProxy(t, { RATE_LIMIT_PER_MINUTE: '4' })
  const statuses = []
  for (let i = 0; i < 5; i++)
    statuses.push((await nodeRequest(`${url}${MOUNT}/offset-orders`)).status)
  t.same(statuses, [401, 401, 401, 429, 429], 'the sign-in was the first')
})

// Requests

t.test('forwards methods, paths and queries unchanged', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    await nodeRequest(`${url}${MOUNT}/offset-orders/7`, { method, headers: bearer })
    t.match(upstream.requests.at(-1), { method, url: '/v1/offset-orders/7', body: '' })
  }
  for (const target of [
    '',
    '/',
    '/a',
    '/a/',
    '/a%20b',
    '/%C3%A9t%c3%a9',
    "/a+b:c@d!$&'()*,=~_-.x",
    '/v1.2...3/x',
    '/a%22%3C%3E',
    '/a?',
    '/a?x=1&x=2&y=%2F%20+z&&=&flag',
    '/a?x=../../b&y=a//b&z=\\',
    '/a?%C3%A9=%zz?/',
    `/a?${'q'.repeat(8_000)}`,
  ]) {
    const before = upstream.requests.length
    await rawRequest(
      url,
      `GET ${MOUNT}${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ${bearer.authorization}\r\n\r\n`,
    )
    t.equal(upstream.requests.length, before + 1, target)
    t.equal(upstream.requests.at(-1)?.url, `/v1${target}`)
  }
})

t.test('supports a provider at any base path', async (t) => {
  for (const [basePath, expected] of [
    ['', '/portfolios'],
    ['/', '/portfolios'],
    ['/deep/er/v1/', '/deep/er/v1/portfolios'],
  ] as const) {
    const { url, upstream, bearer } = await startProxy(t, {}, basePath)
    t.equal((await nodeRequest(`${url}${MOUNT}/portfolios`)).status, 200)
    t.equal(upstream.requests.at(-1)?.url, expected)
    t.equal((await nodeRequest(`${url}${MOUNT}`, { headers: bearer })).status, 200)
    const base = basePath.replace(/\/$/, '') || '/'
    t.equal(upstream.requests.at(-1)?.url, base)
    t.equal((await nodeRequest(`${url}${MOUNT}?x=1`, { headers: bearer })).status, 200)
    t.equal(upstream.requests.at(-1)?.url, `${base}?x=1`)
    t.equal((await nodeRequest(`${url}/%61pi/ordersource/a`, { headers: bearer })).status, 200)
    t.equal(upstream.requests.at(-1)?.url, `${basePath.replace(/\/$/, '')}/a`)
  }
})

t.test('forwards bodies unchanged', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  const bytes = randomBytes(70_000)
  for (const [type, body] of [
    ['application/json', Buffer.from('{ "tons" : 1.50, "tons": 2 }')],
    ['application/json; charset=utf-8', Buffer.from('not json at all')],
    ['application/vnd.api+json', Buffer.from('{}')],
    ['application/x-www-form-urlencoded', Buffer.from('tons=1&note=%26')],
    ['multipart/form-data; boundary=x', Buffer.from('--x\r\n\r\n--x--')],
    ['application/octet-stream', bytes],
  ] as const) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const framing of [
        { 'content-length': String(body.length) },
        { 'transfer-encoding': 'chunked' },
      ]) {
        const headers = { ...bearer, 'content-type': type, ...framing }
        const response = await nodeRequest(`${url}${MOUNT}/offset-orders`, {
          method,
          headers,
          body,
        })
        t.equal(response.status, 200, `${method} ${type}`)
        const arrived = upstream.requests.at(-1)
        t.equal(arrived?.headers['content-type'], type)
        t.ok(Buffer.from(arrived?.body ?? '', 'latin1').equals(body), `${method} ${type}`)
        if ('content-length' in framing) t.match(arrived?.headers, framing)
      }
    }
  }
  const encoded = { 'content-encoding': 'gzip', 'content-language': 'pt', 'content-type': 'a/b' }
  await nodeRequest(`${url}${MOUNT}/x`, {
    method: 'POST',
    headers: { ...bearer, ...encoded },
    body: bytes,
  })
  t.match(upstream.requests.at(-1)?.headers, encoded)
  await nodeRequest(`${url}${MOUNT}/x`, { method: 'POST', headers: bearer, body: bytes })
  t.equal(upstream.requests.at(-1)?.body.length, bytes.length, 'without a content type')
  await nodeRequest(`${url}${MOUNT}/x`, {
    method: 'POST',
    headers: { ...bearer, 'content-length': '0' },
  })
  t.equal(upstream.requests.at(-1)?.headers['content-length'], '0')

  const before = upstream.requests.length
  for (const framing of [
    'content-length: 2\r\n\r\n{}',
    'transfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ]) {
    const response = await rawRequest(
      url,
      `GET ${MOUNT}/portfolios HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${framing}`,
    )
    t.match(response, /^HTTP\/1\.1 400 [^]*must not have a body/, 'a GET has no body')
  }
  t.equal(upstream.requests.length, before)
})

t.test('forwards only allow-listed request headers', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  const forwarded = {
    accept: 'application/json, text/*;q=0.1',
    'accept-language': 'pt-PT',
    'content-type': 'application/json',
    'content-length': '2',
    'idempotency-key': 'order-4711',
    'if-match': '"7"',
    'if-none-match': '"8"',
    'x-request-id': 'followed-through',
  }
  const dropped = {
    cookie: 'clearwake=secret',
    'accept-encoding': 'br',
    origin: url,
    referer: `${url}/admin/orders`,
    'user-agent': 'Mozilla/5.0',
    'sec-fetch-site': 'same-origin',
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-host': 'evil.example',
    forwarded: 'for=203.0.113.7',
    via: '1.1 proxy.example',
    range: 'bytes=0-1',
    'x-http-method-override': 'DELETE',
    'x-original-url': '/v1/secrets',
    'hx-request': 'true',
    'hx-current-url': `${url}/admin`,
    'x-anything': 'else',
    te: 'trailers',
    'proxy-authorization': 'Basic eA==',
    'proxy-connection': 'keep-alive',
    'keep-alive': 'timeout=5',
    connection: 'keep-alive, x-anything, content-type, authorization, x-request-id',
    host: 'evil.example',
  }
  await nodeRequest(`${url}${MOUNT}/offset-orders`, {
    method: 'POST',
    headers: { ...bearer, ...dropped, ...forwarded, connection: 'keep-alive, x-anything' },
    body: Buffer.from('{}'),
  })
  const arrived = upstream.requests.at(-1)
  t.same(
    { ...arrived?.headers },
    {
      ...forwarded,
      authorization: `Bearer ${UPSTREAM_TOKEN}`,
      'accept-encoding': 'identity',
      'user-agent': 'Clearwake',
      host: new URL(upstream.url).host,
      connection: 'close',
    },
  )
  t.equal(arrived?.rawHeaders.filter((name) => /^authorization$/i.test(name)).length, 1)

  await nodeRequest(`${url}${MOUNT}/offset-orders`, {
    method: 'POST',
    headers: { ...bearer, ...dropped, ...forwarded },
    body: Buffer.from('{}'),
  })
  t.equal(
    upstream.requests.at(-1)?.headers.authorization,
    `Bearer ${UPSTREAM_TOKEN}`,
    'a Connection header cannot remove it',
  )
})

// Responses

t.test('returns statuses and bodies unchanged', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  for (const status of [
    200, 201, 202, 206, 400, 402, 403, 404, 409, 418, 422, 429, 500, 503, 599,
  ]) {
    const body = randomBytes(3_000)
    upstream.respond = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' })
      response.end(body)
    }
    const response = await nodeRequest(`${url}${MOUNT}/offset-orders`, {
      method: 'POST',
      headers: bearer,
    })
    t.equal(response.status, status)
    t.ok(response.body.equals(body), `${status}`)
    t.equal(response.headers['retry-after'], '7')
  }
  upstream.respond = (_request, response) => response.writeHead(204, { etag: '"9"' }).end()
  const nothing = await nodeRequest(`${url}${MOUNT}/offset-orders/1`, {
    method: 'DELETE',
    headers: bearer,
  })
  t.match(nothing, { status: 204, headers: { etag: '"9"' } })
  t.equal(nothing.body.length, 0)

  // A 304 must not add headers to a stored response (RFC 9111, section 4.3.4).
  for (const head of [{ etag: '"9"' }, { etag: '"9"', 'content-length': '500' }]) {
    upstream.respond = (request, response) => {
      t.equal(request.headers['if-none-match'], '"9"')
      response.writeHead(304, head).end()
    }
    const headers = { ...bearer, 'if-none-match': '"9"' }
    const same = await nodeRequest(`${url}${MOUNT}/portfolios`, { headers })
    t.match(same, { status: 304, headers: head })
    const { 'content-type': type, 'content-disposition': disposition } = same.headers
    t.same([type, disposition], [undefined, undefined])
    t.equal(same.headers['content-length'], head['content-length'])
    t.notMatch(same.headers['content-security-policy'], /sandbox/)
  }

  upstream.respond = (request, response) => {
    t.equal(request.method, 'HEAD')
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '12' }).end()
  }
  const head = await nodeRequest(`${url}${MOUNT}/portfolios`, { method: 'HEAD', headers: bearer })
  t.match(head, { status: 200, headers: { 'content-length': '12' } })
  t.equal(head.body.length, 0)
})

t.test('returns only allow-listed response headers', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  const forwarded = {
    'content-type': 'application/json',
    'content-length': '2',
    'content-language': 'pt',
    etag: '"3"',
    'last-modified': 'Wed, 18 Nov 2026 10:00:00 GMT',
  }
  upstream.respond = (_request, response) => {
    response.writeHead(200, {
      ...forwarded,
      'set-cookie': ['a=1; Path=/', '__Host-clearwake=stolen; Path=/; Secure'],
      server: 'Upstream/1.0',
      'x-powered-by': 'PHP',
      'x-request-id': 'theirs',
      'content-security-policy': 'script-src *',
      'access-control-allow-origin': '*',
      'strict-transport-security': 'max-age=0',
      'clear-site-data': '"*"',
      refresh: '0; url=https://evil.example',
      link: '<https://evil.example>; rel=preload',
      location: 'https://evil.example/',
      'content-location': '/v1/secret',
      'www-authenticate': 'Basic',
      'service-worker-allowed': '/',
      'hx-redirect': 'https://evil.example',
      'alt-svc': 'h3=":443"',
      'x-ratelimit-limit': '3',
      'x-token': UPSTREAM_TOKEN,
      connection: 'close, x-hop',
      'x-hop': '1',
      'keep-alive': 'timeout=1',
      'proxy-authenticate': 'Basic',
      'cache-control': 'public, max-age=3600',
      expires: 'Wed, 18 Nov 2027 10:00:00 GMT',
    })
    response.end('{}')
  }
  const response = await nodeRequest(`${url}${MOUNT}/offset-orders`, { headers: bearer })
  t.match(response.headers, forwarded)
  const ours = [
    'cache-control',
    'connection',
    'content-security-policy',
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
    'date',
    'referrer-policy',
    'x-content-type-options',
    'x-frame-options',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'x-request-id',
  ]
  t.same(new Set(Object.keys(response.headers)), new Set([...ours, ...Object.keys(forwarded)]))
  t.match(response.headers, {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-ratelimit-limit': '6000',
  })
  t.not(response.headers['x-request-id'], 'theirs')
})

t.test('allows caching of responses to anonymous requests only', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  upstream.respond = (_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=60',
    })
    response.end('{}')
  }
  const anonymous = await nodeRequest(`${url}${freshPath()}`)
  t.equal(anonymous.headers['cache-control'], 'public, max-age=60')
  t.match(anonymous.headers.vary, /authorization, cookie/i)
  const cookie = cookieHeader(await postLogin(url))
  for (const headers of [{ ...bearer }, { cookie }, { cookie: 'any=1' }]) {
    const response = await nodeRequest(`${url}${freshPath()}`, { headers })
    t.equal(response.headers['cache-control'], 'no-store')
  }
  upstream.respond = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }
  const silent = await nodeRequest(`${url}${freshPath()}`)
  t.equal(silent.headers['cache-control'], 'no-store', 'by default')
})

t.test('serves anything but JSON as a sandboxed download', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  for (const [type, isJson] of [
    ['application/json', true],
    ['application/json; charset=utf-8', true],
    ['Application/Problem+JSON', true],
    ['application/vnd.api+json;version=1', true],
    ['text/html', false],
    ['text/html; charset=utf-8', false],
    ['image/svg+xml', false],
    ['application/xhtml+xml', false],
    ['text/xml', false],
    ['application/pdf', false],
    ['application/javascript', false],
    ['text/json', false],
    ['application/jsonp', false],
    ['application/json, text/html', false],
    ['', false],
  ] as const) {
    upstream.respond = (_request, response) => {
      response.writeHead(200, { 'content-type': type })
      response.end('<script>alert(document.domain)</script>')
    }
    const { status, headers } = await nodeRequest(`${url}${MOUNT}/x`, { headers: bearer })
    t.equal(status, 200)
    t.equal(headers['x-content-type-options'], 'nosniff')
    t.equal(headers['content-disposition'], isJson ? undefined : 'attachment', type)
    t.equal(
      headers['content-security-policy'],
      `${isJson ? '' : 'sandbox; '}default-src 'none'; frame-ancestors 'none'`,
    )
  }
  upstream.respond = (_request, response) => {
    response.setHeader('content-type', ['application/json', 'text/html'])
    response.writeHead(200).end('<script>')
  }
  const twice = await nodeRequest(`${url}${MOUNT}/x`, { headers: bearer })
  t.equal(twice.headers['content-disposition'], 'attachment', 'two types')
  upstream.respond = (_request, response) => response.writeHead(200).end('<script>')
  const none = await nodeRequest(`${url}${MOUNT}/x`, { headers: bearer })
  t.equal(none.headers['content-disposition'], 'attachment', 'no type')
})

t.test('does not follow or disclose redirects', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  for (const status of [300, 301, 302, 303, 305, 307, 308]) {
    const before = upstream.requests.length
    upstream.respond = (_request, response) => {
      response.writeHead(status, { location: `${upstream.url}/secret-place` }).end('secret-place')
    }
    for (const method of ['GET', 'POST']) {
      const response = await nodeRequest(`${url}${MOUNT}/x`, { method, headers: bearer })
      t.match(response, { status: 502, headers: { 'content-type': 'application/problem+json' } })
      t.notMatch(JSON.stringify(response.headers) + response.body.toString(), /secret-place/)
    }
    t.equal(upstream.requests.length - before, 2)
  }
})

t.test('responds 502 if the provider rejects the token', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  upstream.respond = (_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(`unknown token ${UPSTREAM_TOKEN}`)
  }
  const response = await nodeRequest(`${url}${MOUNT}/x`, { headers: bearer })
  t.equal(response.status, 502)
  t.match(getProblem(response), { detail: /API token of this service/ })
  t.equal(response.headers['www-authenticate'], undefined)
  t.notMatch(response.body.toString(), UPSTREAM_TOKEN)
})

t.test('compresses responses for the client', async (t) => {
  const { url, upstream } = await startProxy(t)
  upstream.respond = (request, response) => {
    t.equal(request.headers['accept-encoding'], 'identity')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify('long '.repeat(1000)))
  }
  const response = await nodeRequest(`${url}${MOUNT}/portfolios`, {
    headers: { 'accept-encoding': 'gzip' },
  })
  t.equal(response.headers['content-encoding'], 'gzip')
  t.ok(response.body.length < 500)
})

t.test('does not upgrade connections', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  for (const authorization of ['', `authorization: ${bearer.authorization}\r\n`]) {
    const response = await rawRequest(
      url,
      `GET ${MOUNT}/portfolios HTTP/1.1\r\nhost: x\r\n${authorization}connection: Upgrade, close\r\nupgrade: WebSocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    t.match(response, /^HTTP\/1\.1 400 /)
  }
  t.equal(upstream.requests.length, 0)
  const offered = await rawRequest(
    url,
    `GET ${MOUNT}/portfolios HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n`,
  )
  t.match(offered, /^HTTP\/1\.1 200 /, 'other upgrades are ignored')
  t.equal(upstream.requests.at(-1)?.headers.upgrade, undefined)
})

// Configuration

t.test('responds 503 to authorised callers without an order source', async (t) => {
  for (const environment of [{}, { ORDERSOURCE_API_TOKEN: UPSTREAM_TOKEN }]) {
    const { url } = await startApp(t, { ADMIN_ACCOUNTS, ...environment })
    const bearer = { authorization: `Bearer ${await signIn(url)}` }
    for (const [method, path, headers, status] of [
      ['GET', '/portfolios', {}, 503],
      ['HEAD', '/portfolios', {}, 503],
      ['GET', '/offset-orders', {}, 401],
      ['POST', '/offset-orders', {}, 401],
      ['GET', '/offset-orders', bearer, 503],
      ['POST', '/offset-orders', { ...bearer, 'content-type': 'text/plain' }, 503],
      ['DELETE', '/anything', bearer, 503],
      ['GET', '', bearer, 503],
      ['GET', '/..%2f', bearer, 400],
    ] as const) {
      const body = method === 'POST' ? { body: Buffer.from('{') } : {}
      const response = await nodeRequest(`${url}${MOUNT}${path}`, {
        method,
        headers: { ...headers },
        ...body,
      })
      t.equal(response.status, status, `${method} ${path}`)
      t.match(response.headers['content-type'], 'application/problem+json')
    }
    const ready = await (await fetch(`${url}/readyz`)).json()
    t.equal(ready.status, 'ready')
    t.equal(ready.checks.orderSource.detail, 'not configured')
  }
})

t.test('rejects an invalid configuration without quoting it', async (t) => {
  const token = 'a token'
  const usual = { ORDERSOURCE_BASE_URL: 'https://api.example.com/v1', ORDERSOURCE_API_TOKEN: 'x' }
  const problem = async (environment: NodeJS.ProcessEnv): Promise<string> => {
    try {
      const DATA_DIR = temporaryFolder(t)
      const app = await buildApp({ environment: { LOG_LEVEL: 'silent', DATA_DIR, ...environment } })
      await app.close()
      return 'started'
    } catch (error) {
      if (error instanceof ConfigError) return error.message
      throw error
    }
  }
  for (const url of [
    'https://api.example.com',
    'https://api.example.com/',
    'https://api.example.com:8443/v1/',
    'http://127.0.0.1:9000/v1',
    'http://localhost:9000',
    'http://[::1]:9000/api',
  ]) {
    t.equal(await problem({ ...usual, ORDERSOURCE_BASE_URL: url }), 'started', url)
  }
  for (const url of [
    'http://api.example.com/v1',
    'http://10.0.0.1/v1',
    'http://127.0.0.1.example.com/',
    'ftp://127.0.0.1/',
    'api.example.com',
    'https://user:password@api.example.com/',
    'https://api.example.com/?a=1',
    'https://api.example.com/#a',
    'https://api.example.com/a%2fb',
    'https://api.example.com/a//b',
    'unix+http://socket',
  ]) {
    t.match(
      await problem({ ...usual, ORDERSOURCE_BASE_URL: url }),
      /^ {2}ORDERSOURCE_BASE_URL /m,
      url,
    )
  }
  for (const routes of [
    'portfolios',
    'GET portfolios',
    'FETCH /x',
    'GET /x?y=1',
    'GET /../x',
    'GET /x,',
    '/x',
  ]) {
    const message = await problem({ ...usual, ORDERSOURCE_PUBLIC_ROUTES: routes })
    t.match(message, /^ {2}ORDERSOURCE_PUBLIC_ROUTES must be none, or/m, routes)
  }
  for (const timeout of ['0', '-1', '10s', '99', '9999999']) {
    const message = await problem({ ...usual, ORDERSOURCE_TIMEOUT_MS: timeout })
    t.match(message, /^ {2}ORDERSOURCE_TIMEOUT_MS /m, timeout)
  }
  const message = await problem({ ...usual, ORDERSOURCE_API_TOKEN: token })
  t.match(message, /^ {2}ORDERSOURCE_API_TOKEN /m)
  t.notMatch(message, token)
  t.match(
    await problem({ ORDERSOURCE_BASE_URL: usual.ORDERSOURCE_BASE_URL }),
    /^ {2}ORDERSOURCE_API_TOKEN is required with ORDERSOURCE_BASE_URL$/m,
  )
})

// Monitoring and disclosure

t.test('reports the provider in the readiness without depending on it', async (t) => {
  const port = await freePort()
  const { url } = await startApp(t, upstreamEnvironment(`http://127.0.0.1:${port}`))
  const detail = async () => {
    const response = await fetch(`${url}/readyz`)
    t.equal(response.status, 200)
    return (await response.json()).checks.orderSource.detail as string
  }
  t.equal(await detail(), 'no requests yet')
  t.equal((await nodeRequest(`${url}${MOUNT}/portfolios`)).status, 502)
  t.equal(await detail(), 'unreachable')
})

t.test('counts requests by route and outcome', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  for (const path of [
    '/portfolios',
    '/offset-orders/1',
    '/offset-orders/2',
    '/x/1',
    '/portfolios-2',
    '/',
  ]) {
    await nodeRequest(`${url}${MOUNT}${path}`, { headers: bearer })
  }
  upstream.respond = (_request, response) => response.writeHead(402).end()
  await nodeRequest(`${url}${MOUNT}/offset-orders`, { method: 'POST', headers: bearer })
  upstream.respond = (_request, response) => response.writeHead(302).end()
  await nodeRequest(`${url}${MOUNT}/offset-orders`, { headers: bearer })
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = [
    ...text.matchAll(/^clearwake_order_source_request_duration_seconds_count\{(.+)\} (\d+)$/gm),
  ]
  t.same(counts.map(([, labels, count]) => `${labels} ${count}`).toSorted(), [
    'route="offset-orders",outcome="2xx" 2',
    'route="offset-orders",outcome="4xx" 1',
    'route="offset-orders",outcome="invalid_response" 1',
    'route="other",outcome="2xx" 3',
    'route="portfolios",outcome="2xx" 1',
  ])
})

t.test('discloses neither the token nor the address of the provider', async (t) => {
  const { url, upstream, bearer, log } = await startProxy(t, { LOG_LEVEL: 'trace' })
  const toVisibleText: string[] = []
  const record = ({ headers, body }: NodeResponse) =>
    toVisibleText.push(JSON.stringify(headers) + body.toString())
  for (const response of [
    () => upstream.respond,
    () => (_request: unknown, response: any) => response.writeHead(401).end(UPSTREAM_TOKEN),
    () => (_request: unknown, response: any) =>
      response.writeHead(302, { location: upstream.url }).end(),
    () => (request: any) => request.socket.destroy(),
    () => (_request: unknown, response: any) => response.socket.end('nonsense\r\n\r\n'),
  ]) {
    upstream.respond = response()
    for (const method of ['GET', 'POST']) {
      record(await nodeRequest(`${url}${MOUNT}/portfolios`, { method, headers: bearer }))
    }
  }
  record(await nodeRequest(`${url}/metrics`))
  record(await nodeRequest(`${url}/readyz`))
  record(await nodeRequest(`${url}/openapi.json`))
  const everything = toVisibleText.join('\n') + JSON.stringify(log)
  t.notMatch(everything, UPSTREAM_TOKEN)
  t.notMatch(everything, `:${new URL(upstream.url).port}`)
  t.ok(log.length > 10)
})

t.test('shows the body of an error to administrators only', async (t) => {
  const { url, upstream, bearer } = await startProxy(t)
  const body = '{"message":"pg at db.internal:5432"}'
  for (const status of [400, 403, 404, 429, 500, 503, 599]) {
    for (const retryAfter of ['7', 'db.internal']) {
      upstream.respond = (_request, response) => {
        response.writeHead(status, {
          'content-type': 'text/html; at=db.internal',
          'content-length': body.length,
          'retry-after': retryAfter,
          'cache-control': 'public, max-age=3600',
          etag: '"db.internal"',
        })
        response.end(body)
      }
      for (const headers of [{}, { authorization: 'Bearer nonsense' }, { cookie: 'clearwake=x' }]) {
        const response = await nodeRequest(`${url}${freshPath()}`, { headers })
        t.match(getProblem(response), { status, detail: 'The order source returned an error.' })
        t.match(response.headers, {
          'content-type': /^application\/problem\+json/,
          'cache-control': 'no-store',
          'retry-after': retryAfter === '7' ? '7' : undefined,
        })
        t.notMatch(JSON.stringify(response.headers) + response.body.toString(), /db\.internal/)
      }
      const known = await nodeRequest(`${url}${freshPath()}`, { headers: bearer })
      t.equal(known.status, status)
      t.equal(known.body.toString(), body)
    }
  }
  const head = await nodeRequest(`${url}${freshPath()}`, { method: 'HEAD' })
  t.equal(head.status, 599)
  t.notMatch(JSON.stringify(head.headers), /db\.internal/)

  let lastResponse: ServerResponse | undefined
  upstream.respond = (_request, response) => {
    lastResponse = response
    response.writeHead(500, { 'content-type': 'text/plain' })
    const more = () => {
      while (!response.destroyed && response.write('db.internal '.repeat(10_000)));
    }
    response.on('drain', more)
    more()
  }
  const endless = await nodeRequest(`${url}${freshPath()}`)
  t.equal(endless.status, 500)
  t.notMatch(endless.body.toString(), /db\.internal/)
  t.ok(await waitUntil(() => lastResponse?.destroyed === true), 'cancels the upstream request')

  upstream.respond = (_request, response) => {
    lastResponse = response
    response.writeHead(500, { 'content-type': 'text/plain' }).write('db.internal')
  }
  const startedAt = performance.now()
  t.equal((await nodeRequest(`${url}${freshPath()}`)).status, 500)
  t.ok(performance.now() - startedAt < 30_000, 'does not wait for a discarded body')
  t.ok(await waitUntil(() => lastResponse?.destroyed === true), 'cancels the upstream request')
})

t.test('redacts the token in every spelling, split between chunks too', async (t) => {
  const secret = 'ab/ab+abc/'
  const { url, upstream, bearer } = await startProxy(t, { ORDERSOURCE_API_TOKEN: secret })
  const quoted = [
    secret,
    'ab\\/ab+abc\\/',
    'ab\\\\/ab+abc\\\\/',
    'ab\\\\\\/ab+abc\\\\\\/',
    encodeURIComponent(secret),
  ]
  const stars = quoted.map(({ length }) => '*'.repeat(length))
  const text = `${quoted.join(' ')}${quoted.join('')} ab/ab ${secret.slice(0, -1)}`
  const covered = `${stars.join(' ')}${stars.join('')} ab/ab ${secret.slice(0, -1)}`
  for (const status of [200, 202, 404, 500]) {
    for (const length of [{}, { 'content-length': text.length }]) {
      upstream.respond = (_request, response) => {
        response.writeHead(status, {
          'content-type': 'application/json',
          etag: `"${secret}"`,
          'content-language': encodeURIComponent(secret),
          'cache-control': `x="${secret}"`,
          ...length,
        })
        response.end(text)
      }
      for (const headers of [{}, bearer]) {
        const response = await nodeRequest(`${url}${freshPath()}`, { headers })
        t.equal(response.status, status)
        for (const quote of quoted) {
          t.notOk((JSON.stringify(response.headers) + response.body.toString()).includes(quote))
        }
        if (headers === bearer) t.equal(response.body.toString(), covered)
      }
    }
  }
  for (let at = 1; at < text.length; at++) {
    upstream.respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(text.slice(0, at), () => setImmediate(() => response.end(text.slice(at))))
    }
    const response = await nodeRequest(`${url}${MOUNT}/portfolios`, { headers: bearer })
    t.equal(response.body.toString(), covered, `split at ${at}`)
  }
  upstream.respond = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const next = (at: number) => {
      if (at === text.length) response.end()
      else response.write(text.charAt(at), () => setImmediate(next, at + 1))
    }
    next(0)
  }
  t.equal(
    (await nodeRequest(`${url}${MOUNT}/portfolios`, { headers: bearer })).body.toString(),
    covered,
    'in single characters',
  )

  const size = (secret.length + 1) * 1_000_000
  const filling = Buffer.alloc(size, `.${secret}`)
  upstream.respond = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size })
    response.end(filling)
  }
  const large = await nodeRequest(`${url}${MOUNT}/portfolios`, { headers: bearer })
  t.equal(large.body.length, size)
  t.ok(large.body.equals(Buffer.alloc(size, `.${'*'.repeat(secret.length)}`)))
})

t.test('redacts the token in any escapes, however it is split', async (t) => {
  const secret = 'sk_Live/4+b=7Qz'
  const redactor = createSecretRedactor(secret)
  const hex = (letter: string) => letter.charCodeAt(0).toString(16)
  const escapes: ((letter: string) => string)[] = [
    (letter) => letter,
    (letter) => `\\u00${hex(letter)}`,
    (letter) => `\\u00${hex(letter).toUpperCase()}`,
    (letter) => `\\\\u00${hex(letter)}`,
    (letter) => `%${hex(letter)}`,
    (letter) => `%${hex(letter).toUpperCase()}`,
    (letter) => `%25${hex(letter)}`,
    (letter) => `%5Cu00${hex(letter)}`,
    (letter) => `&#${letter.charCodeAt(0)};`,
    (letter) => `&#x${hex(letter)};`,
    (letter) => `&#x0${hex(letter).toUpperCase()};`,
    (letter) => `&amp;#${letter.charCodeAt(0)};`,
    (letter) => letter.replace('/', '&sol;').replace('+', '&plus;').replace('=', '&equals;'),
  ]
  const spelling = fc
    .tuple(...Array.from(secret, () => fc.constantFrom(...escapes)))
    .map((chosen) => Array.from(secret, (letter, i) => chosen[i]?.(letter) ?? '').join(''))
  const uniform = fc.constantFrom(...escapes).map((escape) => Array.from(secret, escape).join(''))
  const padding = fc.string({ unit: fc.constantFrom('a', 'k', '"', ' ', '&', '%', '\\', 's') })
  const cuts = fc.array(fc.nat(400), { maxLength: 6 })
  const pass = async (text: string, at: number[]): Promise<string> => {
    const stream = redactor.createStream()
    const ends = [...at.toSorted((a, b) => a - b), text.length]
    ends.forEach((end, i) => stream.write(Buffer.from(text.slice(ends[i - 1] ?? 0, end))))
    stream.end()
    return Buffer.concat(await stream.toArray()).toString()
  }
  await fc.assert(
    fc.asyncProperty(fc.oneof(spelling, uniform), padding, cuts, async (spelt, before, at) => {
      // A space, because a backslash or `&` before the token would change what it means.
      const redacted = `${before} ${'*'.repeat(spelt.length)} "`
      const found = await pass(`${before} ${spelt} "`, at)
      // The semicolon of the last character is optional, so it stays if a chunk ends before it.
      assert.equal(found.replace('*; "', '** "'), redacted)
      assert.ok(redactor.isIn(spelt))
    }),
  )
  for (const name of ['', 'a', 'ab', 'abc', 'user:']) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${name}${secret}...`).toString(encoding)
      for (const text of [encoded, encodeURIComponent(encoded), JSON.stringify({ encoded })]) {
        const redacted = await pass(text, [3, 11])
        t.equal(redacted.length, text.length)
        t.match(redacted, /\*{16,}/)
        t.notOk(Buffer.from(redacted, 'base64').includes(secret.slice(4, 10)))
      }
    }
  }
  const ordinary = '{"a":"sk_Live","b":"%20 &amp; \\u00e9 \\\\ \\/"}'
  t.equal(await pass(ordinary, [9, 20]), ordinary)
})
