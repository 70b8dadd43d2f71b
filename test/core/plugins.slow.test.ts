import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Ajv, type AnySchema } from 'ajv'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app.js'
import { ConfigError } from '../../src/core/config/config-part.js'
import { startFakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { postJson, SECRET, startApp, temporaryFolder } from '../support/app.js'
import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import { rawGet, rawRequest } from '../support/raw-http.js'
import { upstreamEnvironment } from '../support/recording-upstream.js'
import { routeTable } from '../support/route-table.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

const FRAGMENT = { 'hx-request': 'true', 'hx-request-type': 'partial' }
const HASH = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaA'

const { url, log } = await startApp(t)

/** A response as sent: fetch would decompress it. */
function wire(
  address: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Record<string, string | undefined>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(address, { headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(
            Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
          ),
          body: Buffer.concat(parts),
        }),
      )
    })
    request.on('error', reject)
    request.end()
  })
}

async function configProblem(environment: NodeJS.ProcessEnv): Promise<string> {
  try {
    const app = await buildApp({ environment: { LOG_LEVEL: 'silent', ...environment } })
    await app.close()
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'it started'
}

async function logged(t: Test, find: (entry: Record<string, unknown>) => boolean) {
  t.ok(await waitUntil(() => log.some(find)), 'is logged')
  return log.find(find) ?? {}
}

// Configuration

t.test('reports all configuration errors in one message', async (t) => {
  const invalid = {
    PORT: '99999',
    LOG_LEVEL: 'loud',
    QR_REQUIRE_ADMIN: 'perhaps',
    RATE_LIMIT_PER_MINUTE: '0',
    SESSION_SECRET: 'too short to say aloud',
    SESSION_SECRET_PREVIOUS: 'old and short',
    CHECKOUT_URL: 'javascript:alert(1)',
    TIME_ZONE: 'Mars/Olympus',
    TRUST_PROXY: 'everybody',
    ADMIN_ACCOUNTS: 'a@b.c:password-in-the-clear',
    REDIS_URL: 'redis://:redis-secret@localhost',
  }
  const message = await configProblem({
    DATA_DIR: temporaryFolder(t),
    HOST: '0.0.0.0',
    ...invalid,
  })
  for (const name of [...Object.keys(invalid), 'PUBLIC_BASE_URL']) {
    t.match(message, new RegExp(`^ {2}${name} (?:must|is) `, 'm'), name)
  }
  t.notMatch(
    message,
    /too short to say|old and short|password-in-the-clear|redis-secret/,
    'but no secret',
  )
  t.match(message, /fatal.*silent/, 'and the choices where there are some')
})

t.test('a public address requires a secret, accounts and a base URL', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  for (const HOST of ['0.0.0.0', '::', '192.168.1.5', 'carbon.example.com']) {
    const message = await configProblem({ DATA_DIR, HOST })
    for (const name of ['SESSION_SECRET', 'ADMIN_ACCOUNTS', 'PUBLIC_BASE_URL']) {
      t.match(message, new RegExp(`${name} is required`), `${HOST}: ${name}`)
    }
  }
  t.same(readdirSync(DATA_DIR), [], 'a failed start leaves no files')
  for (const HOST of ['127.0.0.1', '127.8.8.8', '::1', 'localhost']) {
    const app = await buildApp({ environment: { DATA_DIR, HOST, LOG_LEVEL: 'silent' } })
    await app.close()
  }
  const complete = await buildApp({
    environment: {
      DATA_DIR,
      HOST: '0.0.0.0',
      SESSION_SECRET: SECRET,
      ADMIN_ACCOUNTS: `a@b.c:${HASH}, d@e.f:${HASH}`,
      PUBLIC_BASE_URL: 'https://carbon.example.com',
      LOG_LEVEL: 'silent',
    },
  })
  await complete.close()
  const partial = await configProblem({ DATA_DIR, HOST: '0.0.0.0', SESSION_SECRET: SECRET })
  t.notMatch(partial, /SESSION_SECRET/)
  t.match(partial, /PUBLIC_BASE_URL/)
})

t.test('webhooks to loopback are permitted only to a service on loopback', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  for (const WEBHOOK_ALLOW_LOOPBACK of ['true', ' true ']) {
    const message = await configProblem({ DATA_DIR, HOST: '0.0.0.0', WEBHOOK_ALLOW_LOOPBACK })
    t.match(message, /WEBHOOK_ALLOW_LOOPBACK must not be true unless HOST is a loopback address/)
  }
  t.equal(
    await configProblem({ DATA_DIR, HOST: '127.0.0.1', WEBHOOK_ALLOW_LOOPBACK: 'true' }),
    'it started',
  )
})

t.test('rejects an administrator who is listed twice, and names them', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const message = await configProblem({
    DATA_DIR,
    ADMIN_ACCOUNTS: `ann@example.com:${HASH},bob@example.com:${HASH},Ann@Example.com:${HASH}`,
  })
  t.match(message, /^ {2}ADMIN_ACCOUNTS must list each administrator once: ann@example\.com$/m)
  t.notMatch(message, /bob@example\.com|argon2id/, 'names no others, and no hashes')
})

t.test('rejects plausible but invalid values', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const wrong: [string, string][] = [
    ['PUBLIC_BASE_URL', 'https://example.com/path'],
    ['PUBLIC_BASE_URL', 'https://example.com/?x=1'],
    ['PUBLIC_BASE_URL', 'https://user:pass@example.com'],
    ['PUBLIC_BASE_URL', 'example.com'],
    ['PUBLIC_BASE_URL', 'ftp://example.com'],
    ['CHECKOUT_URL', 'shop'],
    ['BRAND_LOGO', '/nowhere/logo.svg'],
    ['BRAND_LOGO', 'package.json'],
    ['ADMIN_ACCOUNTS', 'a@b.c'],
    ['ADMIN_ACCOUNTS', `a@b.c:${HASH},oops`],
    ['ADMIN_ACCOUNTS', `nobody:${HASH}`],
    ['TRUST_PROXY', '10.0.0.0/99'],
    ['TRUST_PROXY', '10.0.0.1,'],
    ['TRUST_PROXY', '-1'],
    ['PORT', 'http'],
    ['PORT', '80.5'],
    ['PORT', '-1'],
    ['SHUTDOWN_TIMEOUT_MS', 'soon'],
    ['SESSION_SECRET', 'x'.repeat(31)],
    ['REDIS_URL', 'redis://localhost:6379'],
    ['DATABASE_URL', 'localhost:5432'],
    ['DATABASE_POOL_SIZE', '0'],
    ['LOGIN_LIMIT_PER_CLIENT', '0'],
    ['LOGIN_LIMIT_PER_ACCOUNT', 'many'],
  ]
  for (const [name, value] of wrong) {
    t.match(
      await configProblem({ DATA_DIR, [name]: value }),
      new RegExp(`^ {2}${name} `, 'm'),
      value,
    )
  }
})

t.test('pages show the name and logo of the operator', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const logo = '<svg xmlns="http://www.w3.org/2000/svg"/>'
  const BRAND_LOGO = join(DATA_DIR, 'logo.svg')
  writeFileSync(BRAND_LOGO, logo)
  const environment = { DATA_DIR, LOG_LEVEL: 'silent', BRAND_NAME: 'Ría & Søn', BRAND_LOGO }
  const app = await buildApp({ environment })
  t.teardown(() => app.close())
  for (const path of ['/', '/calculator/fuel', '/admin/login', '/does-not-exist']) {
    const { body } = await app.inject(path)
    t.match(body, /<title>[^<]+ · Ría &amp; Søn<\/title>/, path)
    t.match(body, '<span dir="auto">Ría &amp; Søn</span>', path)
    t.notMatch(body, 'Clearwake', path)
  }
  const { body } = await app.inject('/')
  const image = await app.inject(/<img src="(\/brand\/[^"]+)"/.exec(body)?.[1] ?? '')
  t.equal(image.body, logo)
  t.match(image.headers, { 'content-type': /^image\/svg/, 'cache-control': /immutable/ })
})

t.test('an empty variable counts as unset', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const app = await buildApp({
    environment: {
      DATA_DIR,
      LOG_LEVEL: 'silent',
      HOST: '',
      PORT: ' ',
      SESSION_SECRET: '',
      CHECKOUT_URL: '',
      TIME_ZONE: '',
      TRUST_PROXY: '',
      METRICS_TOKEN: ' ',
      ADMIN_ACCOUNTS: '',
      QR_REQUIRE_ADMIN: '',
    },
  })
  t.match(app.config, { HOST: '127.0.0.1', PORT: 3000, TIME_ZONE: 'UTC', QR_REQUIRE_ADMIN: false })
  t.equal(app.config.METRICS_TOKEN, undefined)
  await app.close()
})

t.test('creates a secret at the first start, keeps it private and reuses it', async (t) => {
  const DATA_DIR = join(temporaryFolder(t), 'data', 'deeper')
  const environment = { SESSION_SECRET: undefined, DATA_DIR }
  const first = await startApp(t, environment)
  const file = join(DATA_DIR, 'session-secret')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(DATA_DIR).mode & 0o077, 0)
  const secret = readFileSync(file, 'utf8').trim()
  t.ok(Buffer.byteLength(secret) >= 32)
  t.same(
    readdirSync(DATA_DIR).filter((name) => !name.startsWith('orders.db')),
    ['first-administrator', 'session-secret'],
    'no draft is left',
  )
  const { body } = await postJson(`${first.url}/api/qr-code/generate`, {
    ...TYPICAL_CALCULATIONS.fuel,
    vessel: { name: 'Eendracht' },
  })
  const { url: link } = body as { url: string }

  const second = await startApp(t, environment)
  t.equal(readFileSync(file, 'utf8').trim(), secret)
  const opened = await fetch(link.replace(first.url, second.url))
  t.match(await opened.text(), /id="trip"/, 'codes of the first still open at the second')
  t.notMatch(JSON.stringify([...first.log, ...second.log]), secret, 'is never logged')

  const elsewhere = await startApp(t, { SESSION_SECRET: undefined })
  t.match(
    await (await fetch(link.replace(first.url, elsewhere.url))).text(),
    /data-reason="edited"/,
  )
})

t.test('a damaged secret file prevents the start without being printed', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  writeFileSync(join(DATA_DIR, 'session-secret'), 'half a sec\n')
  const message = await configProblem({ DATA_DIR })
  t.match(message, /session-secret in DATA_DIR is damaged/)
  t.notMatch(message, /half a sec/)

  const blocked = join(temporaryFolder(t), 'file')
  writeFileSync(blocked, '')
  t.match(await configProblem({ DATA_DIR: blocked }), /cannot be stored in DATA_DIR/)
})

// Security headers

t.test('sends security headers with every response', async (t) => {
  const limited = await startApp(t, { RATE_LIMIT_PER_MINUTE: '1' })
  await fetch(`${limited.url}/`)
  const asset =
    /href="(\/assets\/site[^"]+)"/.exec(await (await fetch(`${url}/`)).text())?.[1] ?? ''
  const responses: [string, number, Response][] = [
    ['page', 200, await fetch(`${url}/`)],
    ['calculator', 200, await fetch(`${url}/calculator/fuel`)],
    ['loading page', 200, await fetch(`${url}/calculator/fuel?data=x`)],
    ['API', 200, await fetch(`${url}/api/calculators`)],
    [
      'API refusal',
      422,
      await fetch(`${url}/api/calculators/fuel/estimate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }),
    ],
    ['API unknown', 404, await fetch(`${url}/api/nothing`)],
    ['page unknown', 404, await fetch(`${url}/nothing`)],
    ['asset', 200, await fetch(url + asset)],
    ['asset unknown', 404, await fetch(`${url}/assets/none.css`)],
    ['wrong method', 405, await fetch(`${url}/qr-test`, { method: 'DELETE' })],
    ['OpenAPI', 200, await fetch(`${url}/openapi.json`)],
    ['health', 200, await fetch(`${url}/healthz`)],
    ['too many', 429, await fetch(`${limited.url}/`)],
    ['broken address', 400, await fetch(`${url}/calculator/%E0%A4%A`)],
    ['long address', 404, await fetch(`${url}/calculator/${'a'.repeat(300)}`)],
  ]
  for (const [what, status, { status: answered, headers }] of responses) {
    t.equal(answered, status, what)
    t.equal(headers.get('x-content-type-options'), 'nosniff', what)
    t.equal(headers.get('x-frame-options'), 'DENY', what)
    t.equal(headers.get('referrer-policy'), 'same-origin', what)
    const policy = headers.get('content-security-policy') ?? ''
    t.match(policy, /default-src 'none'/, what)
    t.match(policy, /frame-ancestors 'none'/, what)
    t.notMatch(policy, /unsafe-|\*|http:/, what)
    t.ok(headers.get('x-request-id'), what)
    t.equal(headers.get('x-powered-by'), null, what)
    t.equal(headers.get('server'), null, what)
    t.equal(headers.get('strict-transport-security'), null, `${what}: plain http`)
  }
})

t.test('the content security policy allows own resources only', async (t) => {
  const policy = (await fetch(`${url}/`)).headers.get('content-security-policy') ?? ''
  const directives = new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources.join(' ')]
    }),
  )
  t.equal(directives.get('script-src'), "'self'")
  t.equal(directives.get('style-src'), "'self'")
  t.equal(directives.get('connect-src'), "'self'")
  t.equal(directives.get('img-src'), "'self' data:")
  t.equal(directives.get('form-action'), "'self'")
  t.equal(directives.get('base-uri'), "'none'")

  for (const path of ['/', '/calculator/distance', '/qr-test', '/docs', '/nothing']) {
    const html = await (await fetch(url + path)).text()
    t.notMatch(html, /<script(?![^>]* src=)|<style| style=| on[a-z]+=|javascript:/, path)
    t.notMatch(html, /<(?!a )[^>]* (?:src|href)="https?:\/\/(?!127\.0\.0\.1)/, path)
  }
})

t.test('a page path that starts like the API is still a page', async (t) => {
  const response = await fetch(`${url}/apiary`)
  t.equal(response.status, 404)
  t.match(response.headers.get('content-type'), /^text\/html/)
  t.match(response.headers.get('content-security-policy'), /style-src 'self'/)
})

t.test('sends HSTS over HTTPS', async (t) => {
  const secure = await startApp(t, { PUBLIC_BASE_URL: 'https://carbon.example.com' })
  for (const path of ['/', '/api/calculators']) {
    const { headers } = await fetch(secure.url + path)
    t.match(headers.get('strict-transport-security'), /^max-age=\d{8,}/, path)
  }
})

// Closing

t.test('finishes a streamed response before closing', async (t) => {
  let release = (): void => undefined
  const held = new Promise<string>((resolve) => (release = () => resolve('<p>the rest</p>')))
  const view = { type: 'fuel', calculator: { title: '' } }
  const pages = async (app: FastifyInstance) => {
    app.get('/slow', (_request, reply) => reply.streamPage('calculator/prefill', view, () => held))
  }
  const { app, url: slow } = await startApp(t, {}, { pages })
  const response = await fetch(`${slow}/slow`)
  t.equal(response.headers.get('connection'), 'keep-alive', 'without Connection: close')
  const closed = app.close()
  release()
  t.match(await response.text(), /the rest/)
  // Without care the connection would stay open, because it has no keep-alive time-out.
  t.equal(await Promise.race([closed.then(() => 'closed'), sleep(60_000, 'still open')]), 'closed')
})

// Assets

t.test('assets have content hashes in their names, and are cached indefinitely', async (t) => {
  const pages = await Promise.all(
    ['/', '/calculator/fuel', '/qr-test'].map(async (path) => (await fetch(url + path)).text()),
  )
  const addresses = new Set(
    pages.flatMap((html) =>
      [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = '']) => path),
    ),
  )
  t.ok(addresses.size >= 5)
  for (const path of addresses) {
    t.match(path, /^\/assets\/[a-z-]+\.[A-Za-z0-9_-]{12}\.(css|js|svg)$/)
    const plain = await wire(url + path, { 'accept-encoding': 'identity' })
    t.equal(plain.status, 200, path)
    t.equal(plain.headers['content-encoding'], undefined)
    t.match(plain.headers['cache-control'], /public.*max-age=31536000.*immutable/)
    t.match(
      plain.headers['content-type'],
      /^(text\/css|text\/javascript|application\/javascript|image\/svg\+xml)/,
    )
    t.match(plain.headers.vary, /accept-encoding/i, `${path} says that its form depends`)

    const br = await wire(url + path, { 'accept-encoding': 'gzip, br' })
    t.equal(br.headers['content-encoding'], 'br')
    t.ok(brotliDecompressSync(br.body).equals(plain.body))
    t.equal(br.headers['content-type'], plain.headers['content-type'])
    t.match(br.headers.vary, /accept-encoding/i)
    const gzip = await wire(url + path, { 'accept-encoding': 'gzip' })
    t.equal(gzip.headers['content-encoding'], 'gzip')
    t.ok(gunzipSync(gzip.body).equals(plain.body))

    const etag = plain.headers.etag
    t.equal(
      (await wire(url + path, { 'accept-encoding': 'identity', 'if-none-match': etag ?? '' }))
        .status,
      304,
    )
  }
})

t.test('a missing asset is not cached', async (t) => {
  for (const path of [
    '/assets/',
    '/assets',
    '/assets/none.js',
    '/assets/site.css',
    '/assets.json',
  ]) {
    const { status, headers } = await fetch(url + path, { redirect: 'manual' })
    t.equal(status, 404, path)
    t.notMatch(headers.get('cache-control') ?? '', /immutable|public/, path)
  }
})

t.test('asset paths cannot escape their directory', async (t) => {
  const ups = [
    '..',
    '%2e%2e',
    '%2E%2E',
    '.%2e',
    '..%2f..',
    '%252e%252e',
    '....',
    '..;',
    '..%5c..',
    '..\\..',
    '%c0%ae%c0%ae',
    '..%00',
  ]
  const slashes = ['/', '%2f', '%2F', '%252f', '%5c', '\\', '//']
  const buildPaths = (file: string, ups: string[], slashes: string[]): string[] =>
    ups.flatMap((up) =>
      slashes.flatMap((slash) =>
        ['/assets/', '/assets', '/', '/calculator/'].flatMap((start) => [
          start + [up, file].join(slash),
          start + [up, up, file].join(slash),
        ]),
      ),
    )
  const targets = [
    { paths: buildPaths('package.json', ups, slashes), mark: '"fastify"' },
    {
      paths: buildPaths('dist/assets.json', ups.slice(0, 2), slashes.slice(0, 2)),
      mark: 'site.css',
    },
    { paths: buildPaths('dist/server.js', ups.slice(0, 2), slashes.slice(0, 2)), mark: 'serve(' },
    { paths: buildPaths('.git/HEAD', ups.slice(0, 2), slashes.slice(0, 2)), mark: 'ref:' },
  ]
  for (const { paths, mark } of targets) {
    for (const path of paths) {
      const { status, body } = await rawGet(url, path)
      if (status < 400 || status >= 500 || body.includes(mark)) t.fail(`${path}: ${status}`)
    }
  }
  t.pass('none did')
})

// Errors

t.test('internal errors reveal nothing', async (t) => {
  const fail = async () => {
    throw Object.assign(new Error('password of db.internal:5432 is hunter2'), { code: 'EDEEP' })
  }
  const pages = async (app: FastifyInstance) => {
    app.get('/api/faulty', fail)
    app.get('/faulty', fail)
    app.get('/api/strange', async () => {
      throw Object.assign(new Error('secret table'), { statusCode: 400 })
    })
    app.get('/calculator-loading', (_request, reply) =>
      reply.streamPage('calculator/prefill', { type: 'fuel', calculator: { title: 'Fuel' } }, fail),
    )
  }
  const { url: base, log } = await startApp(t, {}, { pages })
  const insides = /hunter2|db\.internal|EDEEP|secret table|node_modules|\.ts|\.js:\d|at async/

  const api = await fetch(`${base}/api/faulty`)
  t.equal(api.status, 500)
  t.match(api.headers.get('content-type'), /^application\/problem\+json/)
  const text = await api.text()
  t.notMatch(text, insides)
  t.match(JSON.parse(text), { status: 500, requestId: api.headers.get('x-request-id') })

  const page = await fetch(`${base}/faulty`)
  t.equal(page.status, 500)
  t.match(page.headers.get('content-type'), /^text\/html/)
  const html = await page.text()
  t.match(html, /<!doctype html>/)
  t.notMatch(html, insides)
  t.ok(html.includes(page.headers.get('x-request-id') ?? 'none'), 'but a number to quote')

  const fragment = await (await fetch(`${base}/faulty`, { headers: FRAGMENT })).text()
  t.notMatch(fragment, /<!doctype/)
  t.notMatch(fragment, insides)

  t.notMatch(await (await fetch(`${base}/api/strange`)).text(), insides)

  const loading = await fetch(`${base}/calculator-loading`)
  const late = await loading.text()
  t.match(late, /role="alert"/, 'an error after the loading state is shown in the page')
  t.match(late, /<\/html>\s*$/)
  t.notMatch(late, insides)
  t.match(JSON.stringify(log), /hunter2/, 'is logged in full')
})

t.test('reports unknown routes and methods in the requested format', async (t) => {
  for (const [status, path, method] of [
    [404, '/nothing', 'GET'],
    [404, '/assets/none.css', 'GET'],
    [405, '/qr-test', 'PUT'],
    [405, '/healthz', 'POST'],
  ] as const) {
    const page = await fetch(url + path, { method })
    t.equal(page.status, status)
    t.match(await page.text(), /<!doctype html>/)
    const fragment = await fetch(url + path, { method, headers: FRAGMENT })
    t.equal(fragment.status, status)
    t.match(fragment.headers.get('vary'), /HX-Request/i)
    const html = await fragment.text()
    t.notMatch(html, /<!doctype|<html/)
    t.match(html, /data-announcement="/)
  }
  for (const [status, path, method] of [
    [404, '/api', 'GET'],
    [404, '/api/nothing', 'POST'],
    [404, '/api?x=1', 'GET'],
    [405, '/api/qr-code/generate', 'GET'],
    [405, '/api/calculators?x=1', 'DELETE'],
  ] as const) {
    const response = await fetch(url + path, { method, headers: FRAGMENT })
    t.equal(response.status, status, path)
    t.match(response.headers.get('content-type'), /^application\/problem\+json/, path)
    const detail =
      status === 404 ? 'This path does not exist. All paths are listed in /docs.' : String
    t.match(await response.json(), { status, title: String, detail })
    if (status === 405) t.ok(response.headers.get('allow'), path)
  }
})

t.test('reports an undecodable path in the requested format', async (t) => {
  const api = await fetch(`${url}/api/calculators/%E0%A4%A/estimate`)
  t.ok(api.status === 400 || api.status === 404)
  t.match(api.headers.get('content-type'), /^application\/problem\+json/)
  const page = await fetch(`${url}/calculator/%E0%A4%A`)
  t.ok(page.status === 400 || page.status === 404)
  t.match(page.headers.get('content-type'), /^text\/html/)
  const long = await fetch(`${url}/calculator/${'a'.repeat(300)}`)
  t.match(long.headers.get('content-type'), /^text\/html/)
  t.notMatch(await long.text(), /FST_ERR/)
})

// Telemetry

t.test('keeps a valid request ID of a proxy', async (t) => {
  const idOf = async (given?: string) => {
    const headers: HeadersInit = given === undefined ? {} : { 'x-request-id': given }
    return (await fetch(`${url}/healthz`, { headers })).headers.get('x-request-id')
  }
  t.equal(await idOf('abc-123_X.y'), 'abc-123_X.y')
  for (const wrong of [undefined, '', 'a b', '<script>', 'x'.repeat(65), '{"a":1}', 'ü']) {
    const id = await idOf(wrong)
    t.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, `instead of ${String(wrong)}`)
  }
  t.not(await idOf(), await idOf())
})

t.test('logs every request without its query', async (t) => {
  const id = 'log-without-query'
  await fetch(`${url}/calculator/fuel?data=SECRETDATA&sig=SECRETSIG&vesselName=Jane`, {
    headers: {
      'x-request-id': id,
      cookie: 'clearwake=SECRETCOOKIE',
      authorization: 'Bearer SECRETTOKEN',
    },
  }).then((response) => response.text())
  const entry = await logged(t, ({ reqId, msg }) => reqId === id && msg === 'request')
  t.match(entry, { method: 'GET', path: '/calculator/fuel', statusCode: 200, responseTime: Number })
  await fetch(`${url}/nothing?token=SECRETTOKEN`, { headers: { 'x-request-id': 'log-of-404' } })
  t.match(await logged(t, ({ reqId, msg }) => reqId === 'log-of-404' && msg === 'request'), {
    path: '/nothing',
    statusCode: 404,
  })
  t.notMatch(JSON.stringify(log), /SECRET(DATA|SIG|COOKIE|TOKEN)|Jane/)
})

t.test('reports health and readiness', async (t) => {
  t.same(await (await fetch(`${url}/healthz`)).json(), { status: 'alive' })
  const own = await startApp(t)
  t.match(await (await fetch(`${own.url}/readyz`)).json(), { status: 'ready' })
  own.app.readiness.set('good', async () => ({ ready: true, detail: 'fine' }))
  own.app.readiness.set('bad', async () => {
    throw new Error('db.internal is away')
  })
  const response = await fetch(`${own.url}/readyz`)
  t.equal(response.status, 503)
  const text = await response.text()
  t.notMatch(text, /db\.internal/)
  t.match(JSON.parse(text), {
    status: 'not ready',
    checks: { good: { ready: true, detail: 'fine' }, bad: { ready: false } },
  })
})

t.test('routes the API by normalised path', async (t) => {
  const { hostname, port } = new URL(url)
  for (const address of ['/%61pi/nothing', `http://${hostname}:${port}/api/nothing`]) {
    const response = await rawRequest(
      url,
      `GET ${address} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    )
    t.match(response, /^HTTP\/1\.1 404/, address)
    t.match(response, /content-type: application\/problem\+json/i, address)
    t.match(response, /cache-control: no-store/i, address)
  }
  t.match(
    await rawRequest(url, 'GET * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    /^HTTP\/1\.1 404/,
  )
})

t.test('responds to malformed HTTP and logs it', async (t) => {
  for (const [status, text] of [
    [400, 'NONSENSE\r\n\r\n'],
    [431, `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(200_000)}\r\n\r\n`],
  ] as const) {
    const response = await rawRequest(url, text)
    t.match(response, new RegExp(`^HTTP/1\\.1 ${status} `))
    t.match(response, /content-type: application\/problem\+json/i)
    t.match(response, /content-security-policy: default-src 'none'; frame-ancestors 'none'/i)
    const { requestId } = JSON.parse(response.slice(response.indexOf('{')))
    t.ok(await logged(t, ({ reqId, msg }) => reqId === requestId && msg === 'malformed request'))
  }
})

t.test('unknown routes ignore bodies, valid or not', async (t) => {
  for (const [path, method, status] of [
    ['/api/nothing', 'POST', 404],
    ['/api/calculators', 'PUT', 405],
  ] as const) {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: '{',
    })
    t.equal(response.status, status)
  }
})

t.test('rejects a body with __proto__ as a key', async (t) => {
  const detailOf = async (body: string) => {
    const response = await fetch(`${url}/api/qr-code/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    t.equal(response.status, 400)
    return ((await response.json()) as { detail: string }).detail
  }
  for (const body of ['{"constructor":{"prototype":1}}', '{"a":[{"__proto__":{}}]}']) {
    t.match(await detailOf(body), /forbidden key such as __proto__/)
  }
  for (const body of ['{"__proto__":', '{', '{"a":1}}']) {
    t.match(await detailOf(body), /^The body is not valid JSON/)
  }
  t.match(await detailOf(''), /^The body is empty/)
})

t.test('rejects JSON in other encodings', async (t) => {
  const trip = JSON.stringify({ ...TYPICAL_CALCULATIONS.custom, vessel: { name: 'Björn' } })
  for (const [encoding, headers, status] of [
    ['utf8', { 'content-type': 'application/json; charset=utf-8' }, 200],
    ['latin1', { 'content-type': 'application/json' }, 400],
    ['utf8', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    ['utf8', { 'content-type': 'application/json; charset=iso-8859-1' }, 415],
    ['utf16le', { 'content-type': 'application/json; charset=utf-16' }, 415],
  ] as const) {
    const body = new Uint8Array(Buffer.from(trip, encoding))
    const response = await fetch(`${url}/api/qr-code/generate`, { method: 'POST', headers, body })
    t.equal(response.status, status, JSON.stringify(headers))
  }
})

t.test('rejected requests count towards one limit for pages and API', async (t) => {
  const closed = await startApp(t, { QR_REQUIRE_ADMIN: 'true', QR_RATE_LIMIT_PER_MINUTE: '3' })
  const statuses = []
  for (let i = 0; i < 5; i++) {
    const headers = { authorization: `Bearer guess-${i}` }
    statuses.push(
      (await fetch(`${closed.url}/api/qr-code/generate`, { method: 'POST', headers })).status,
    )
  }
  t.same(statuses, [401, 401, 401, 429, 429])

  const open = await startApp(t, { QR_RATE_LIMIT_PER_MINUTE: '2' })
  const generate = () => postJson(`${open.url}/api/qr-code/generate`, { calculatorType: 'custom' })
  t.equal((await fetch(`${open.url}/qr-test`)).status, 200)
  t.equal((await generate()).status, 422)
  t.equal((await fetch(`${open.url}/qr-test`)).status, 429)
  t.equal((await generate()).status, 429)
  t.equal((await fetch(`${open.url}/`)).status, 200, 'other routes continue')
})

t.test('serves metrics to localhost, or with the token', async (t) => {
  const local = await fetch(`${url}/metrics`)
  t.equal(local.status, 200)
  t.match(local.headers.get('content-type'), /^text\/plain/)
  const text = await local.text()
  t.match(text, /http_request_duration_seconds_count\{[^}]*route="\/calculator\/:type"/)
  t.match(text, /^clearwake_prefill_total/m)
  t.notMatch(text, /route="[^"]*(nothing|data=)/, 'no label that a stranger chooses')
  for (const name of ['x-forwarded-for', 'forwarded', 'x-forwarded-proto', 'host']) {
    const proxied = await wire(`${url}/metrics`, { [name]: 'for=127.0.0.1' })
    t.equal(proxied.status, 403, `asked through a proxy: ${name}`)
  }

  const guarded = await startApp(t, { METRICS_TOKEN: 'let me see' })
  t.equal((await fetch(`${guarded.url}/metrics`)).status, 401)
  for (const [authorization, status] of [
    ['Bearer let me see', 200],
    ['bearer let me see', 200],
    ['Bearer let me sea', 401],
    ['Bearer let me seex', 401],
    ['let me see', 401],
  ] as const) {
    const response = await fetch(`${guarded.url}/metrics`, { headers: { authorization } })
    t.equal(response.status, status, authorization)
  }
})

// Limits

t.test('rate-limited clients get Retry-After in their format', async (t) => {
  const limited = await startApp(t, { RATE_LIMIT_PER_MINUTE: '2' })
  for (let i = 0; i < 2; i++) t.equal((await fetch(`${limited.url}/`)).status, 200)
  const page = await fetch(`${limited.url}/`)
  t.equal(page.status, 429)
  t.ok(Number(page.headers.get('retry-after')) > 0)
  t.match(await page.text(), /<!doctype html>.*Too many requests/s)
  const fragment = await fetch(`${limited.url}/`, { headers: FRAGMENT })
  t.notMatch(await fragment.text(), /<!doctype/)
  const api = await fetch(`${limited.url}/api/calculators`)
  t.equal(api.status, 429)
  t.match(api.headers.get('content-type'), /^application\/problem\+json/)
  t.ok(Number(api.headers.get('retry-after')) > 0)
  t.match(await api.json(), { status: 429, detail: /Try again/ })
  t.equal((await fetch(`${limited.url}/healthz`)).status, 200, 'health is not limited')
  t.equal((await fetch(`${limited.url}/readyz`)).status, 200)
  t.equal((await fetch(`${limited.url}/metrics`)).status, 200)
})

t.test('unknown routes count towards the limit', async (t) => {
  const limited = await startApp(t, { RATE_LIMIT_PER_MINUTE: '2' })
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await fetch(`${limited.url}/nothing`)).status)
  t.equal(statuses.at(-1), 429)
})

t.test('identifies clients by TRUST_PROXY', async (t) => {
  const statusesFor = async (TRUST_PROXY: string, chains: string[]) => {
    const { url } = await startApp(t, { TRUST_PROXY, RATE_LIMIT_PER_MINUTE: '1' })
    const statuses = []
    for (const chain of chains) {
      statuses.push((await fetch(`${url}/`, { headers: { 'x-forwarded-for': chain } })).status)
    }
    return statuses
  }
  t.same(
    await statusesFor('false', ['203.0.113.1', '203.0.113.2']),
    [200, 429],
    'ignores all headers: both are the caller',
  )
  t.same(await statusesFor('', ['203.0.113.1', '203.0.113.2']), [200, 429])
  t.same(await statusesFor('true', ['203.0.113.1', '203.0.113.2', '203.0.113.1']), [200, 200, 429])
  t.same(
    await statusesFor('1', [
      '198.51.100.9, 203.0.113.1',
      '198.51.100.8, 203.0.113.1',
      '203.0.113.2',
    ]),
    [200, 429, 200],
    'trusts one hop only',
  )
  t.same(
    await statusesFor('loopback', ['198.51.100.9, 203.0.113.1', '198.51.100.8, 203.0.113.1']),
    [200, 429],
  )
  t.same(
    await statusesFor('127.0.0.0/8, 203.0.113.1', [
      '198.51.100.9, 203.0.113.1',
      '198.51.100.8, 203.0.113.1',
    ]),
    [200, 200],
    'trusts another trusted proxy',
  )
  t.same(await statusesFor('10.0.0.0/8', ['203.0.113.1', '203.0.113.2']), [200, 429])
})

// Documentation

interface OpenApi {
  openapi: string
  info: { title: string; version: string }
  components?: { securitySchemes?: Record<string, unknown> }
  paths: Record<string, Record<string, Operation>>
}
interface Operation {
  summary?: string
  tags?: string[]
  security?: Record<string, unknown>[]
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[]
  requestBody?: {
    content: Record<
      string,
      { schema?: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }
    >
  }
  responses: Record<
    string,
    {
      description?: string
      headers?: Record<string, unknown>
      content?: Record<string, { schema?: Schema }>
    }
  >
}
type Schema = Record<string, unknown> & { examples?: unknown[] }

const getOpenApi = async (base: string) =>
  (await (await fetch(`${base}/openapi.json`)).json()) as OpenApi

t.test('the OpenAPI document is valid and lists every API route', async (t) => {
  const document = await getOpenApi(url)
  t.match(document.openapi, /^3\.1\.\d+$/)
  t.ok(document.info.title && document.info.version)
  const { app } = await startApp(t)
  const routes = new Set(
    routeTable(app)
      .filter(({ method, path }) => method !== 'HEAD' && path.startsWith('/api'))
      // The proxy relays any path; the usual ones are documented. Stripe alone calls its webhook.
      .filter(({ path }) => !/^\/api\/(?:ordersource\/?\*?|payments\/stripe\/webhook)$/.test(path))
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
  )
  t.ok(routes.size >= 5, [...routes].join(', '))
  const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  t.same(new Set(listed), routes)

  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const what = `${method} ${path}`
      t.ok(operation.summary, `${what} has a summary`)
      t.ok(operation.tags?.length, `${what} has a tag`)
      const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      t.same(
        (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name),
        placeholders,
        `${what} declares its path parameters`,
      )
      for (const [status, response] of Object.entries(operation.responses)) {
        t.match(status, /^([1-5]\d\d|[1-5]XX|default)$/, `${what}: ${status}`)
        t.type(response.description, 'string', `${what}: ${status} has a description`)
      }
      t.ok(
        ['200', '201', '202', '204'].some((status) => operation.responses[status]),
        `${what} tells its answer`,
      )
      if (operation.requestBody) {
        const problem = operation.responses['4XX']?.content ?? {}
        t.ok(problem['application/problem+json'], `${what} tells its refusals`)
      }
    }
  }
})

t.test('the schemas of the document accept its examples and real responses', async (t) => {
  const fakeProvider = await startFakeProvider({ token: 'token-of-the-tests' })
  t.teardown(() => fakeProvider.close())
  const { url } = await startApp(t, {
    ADMIN_ACCOUNTS,
    ...upstreamEnvironment(fakeProvider.url, { ORDERSOURCE_API_TOKEN: fakeProvider.token }),
  })
  const administrator = { authorization: `Bearer ${await signIn(url)}` }
  const document = await getOpenApi(url)
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  const webhooks = `${url}/api/admin/webhooks`
  const endpoint = { url: 'https://shop.invalid/', events: ['order.paid'] }
  const { body: webhook } = await postJson(webhooks, endpoint, administrator)
  const { body: delivery } = await postJson(`${webhooks}/${webhook.id}/test`, {}, administrator)
  const person = { email: 'zoe@example.com', role: 'viewer' }
  const { body: account } = await postJson(`${url}/api/admin/accounts`, person, administrator)
  // The example of an offset order is a dry run.
  const offsetOrder = { tons: 1.6, portfolioId: 1 }
  await postJson(`${url}/api/ordersource/offset-orders`, offsetOrder, administrator)
  let examples = 0
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.responses['204']) continue
      // The order created here is the first one.
      const ids: Record<string, string> = { webhooks: webhook.id, accounts: account.id }
      const id = ids[path.split('/')[3] ?? ''] ?? '1'
      const address = url + path.replace('{id}', id).replace('{deliveryId}', delivery.id)
      const headers: Record<string, string> = operation.security ? administrator : {}
      const success = ['200', '201', '202'].find((status) => operation.responses[status])
      const { content } = operation.responses[success ?? ''] ?? {}
      const answerSchema = content?.['application/json']?.schema
      if (!answerSchema) {
        t.ok(content, `${path} answers with a file`)
        continue
      }
      const isAnswer = ajv.compile(answerSchema as AnySchema)
      const body = operation.requestBody?.content['application/json']
      if (!body?.schema) {
        const answer: unknown = await (await fetch(address, { method, headers })).json()
        t.ok(isAnswer(answer), `${path}: ${ajv.errorsText(isAnswer.errors)}`)
        continue
      }
      const isBody = ajv.compile(body.schema as AnySchema)
      const given = [
        ...(body.schema.examples ?? []),
        ...(body.example === undefined ? [] : [body.example]),
        ...Object.values(body.examples ?? {}).map(({ value }) => value),
      ]
      t.ok(given.length > 0, `${path} has an example`)
      if (method !== 'patch') t.notOk(isBody({}), `${path} asks for something`)
      for (const example of given) {
        examples++
        t.ok(isBody(example), `${path}: ${ajv.errorsText(isBody.errors)}`)
        const response = await fetch(address, {
          method: method.toUpperCase(),
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(example),
        })
        const answer: unknown = await response.json()
        t.ok(response.ok, `${method} ${path} takes its example`)
        t.ok(isAnswer(answer), `${path}: ${ajv.errorsText(isAnswer.errors)}`)
      }
    }
  }
  t.ok(examples >= 4)
})

t.test('optional parameters are not documented as required', async (t) => {
  const { paths } = await getOpenApi(url)
  const required = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) =>
      parameters
        .filter((parameter) => parameter.required === true && parameter.in !== 'path')
        .map(({ name }) => `${method} ${path} ${name}`),
    ),
  )
  t.same(required, [])
  const list = paths['/api/admin/orders']?.get?.parameters ?? []
  t.equal(list.find(({ name }) => name === 'pageSize')?.schema?.default, 25)
})

t.test('documents the headers of orders and lists', async (t) => {
  const { paths } = await getOpenApi(url)
  const headersOf = (path: string, method: string, status: string) =>
    Object.keys(paths[path]?.[method]?.responses[status]?.headers ?? {})
  const one = '/api/admin/orders/{id}'
  const AS_OF = 'orders-as-of'
  t.same(headersOf('/api/admin/orders', 'get', '200'), ['Link', AS_OF])
  t.same(headersOf('/api/admin/orders', 'post', '201'), [
    'ETag',
    'Location',
    'Clearwake-Warning',
    AS_OF,
  ])
  for (const method of ['get', 'patch', 'delete'])
    t.same(headersOf(one, method, '200'), ['ETag', AS_OF])
  t.same(headersOf('/api/admin/orders/export', 'get', '200'), ['Content-Disposition', AS_OF])
  t.same(headersOf('/api/qr-code/generate', 'post', '200'), ['Content-Disposition'])
  t.same(headersOf('/api/admin/login', 'post', '200'), ['Set-Cookie'])
  t.same(headersOf('/api/admin/logout', 'post', '204'), ['Set-Cookie'])

  for (const method of ['patch', 'delete'])
    t.ok(headersOf(one, method, '412').includes('ETag'), `${method}: what is there now`)
  const conflict = paths[one]?.patch?.responses['409']?.content?.['application/problem+json']
  t.ok(Object.hasOwn(conflict?.schema?.properties ?? {}, 'possibleStatuses'))

  // Headers of errors beyond the usual ones must be documented.
  const { headers } = await fetch(`${url}/api/calculators`)
  const usual = new Set(['content-length', ...headers.keys()])
  const limited = await startApp(t, { RATE_LIMIT_PER_MINUTE: '1' })
  await fetch(limited.url)
  for (const [status, answer] of [
    [401, await fetch(`${url}/api/admin/orders`)],
    [405, await fetch(`${url}/api/admin/login`)],
    [429, await fetch(`${limited.url}/api/calculators`)],
  ] as const) {
    t.equal(answer.status, status)
    const known = headersOf('/api/admin/login', 'post', '4XX').map((name) => name.toLowerCase())
    const own = [...answer.headers.keys()].filter((name) => !usual.has(name))
    t.ok(own.length > 0, `${status} has headers of its own`)
    for (const name of own) t.ok(known.includes(name), `${status}: ${name}`)
  }
})

t.test('documents which operations require an administrator', async (t) => {
  const closed = await startApp(t, { QR_REQUIRE_ADMIN: 'true' })
  const securityOf = async (base: string) =>
    (await getOpenApi(base)).paths['/api/qr-code/generate']?.post?.security
  t.same(await securityOf(closed.url), [{ apiKey: ['qr:write'] }, { bearer: [] }, { cookie: [] }])
  t.equal(await securityOf(url), undefined)

  const { paths } = await getOpenApi((await startApp(t, { ORDERSOURCE_PUBLIC_ROUTES: 'none' })).url)
  t.ok(paths['/api/ordersource/portfolios']?.get?.security)
  const usual = await getOpenApi(url)
  t.equal(usual.paths['/api/ordersource/portfolios']?.get?.security, undefined)
  t.ok(usual.paths['/api/ordersource/offset-orders']?.post?.security)
})

// Compression

t.test('compresses pages and responses as requested', async (t) => {
  for (const path of [
    '/',
    '/calculator/fuel?data=x',
    '/api/calculators',
    '/docs',
    '/openapi.json',
  ]) {
    const identity = await wire(url + path, { 'accept-encoding': 'identity' })
    t.equal(identity.headers['content-encoding'], undefined, path)
    const plain = identity.body.toString()
    const timeless = (text: string) => text.replace(/127\.0\.0\.1:\d+/g, '')

    const br = await wire(url + path, { 'accept-encoding': 'gzip, deflate, br' })
    t.equal(br.headers['content-encoding'], 'br', path)
    t.equal(timeless(brotliDecompressSync(br.body).toString()), timeless(plain), path)
    const gzip = await wire(url + path, { 'accept-encoding': 'gzip' })
    t.equal(gzip.headers['content-encoding'], 'gzip', path)
    t.equal(timeless(gunzipSync(gzip.body).toString()), timeless(plain), path)
    for (const { headers } of [br, gzip]) {
      t.match(headers.vary, /accept-encoding/i, `${path} says that its form depends`)
    }
    t.ok(br.body.length < identity.body.length)
    const unknown = await wire(url + path, { 'accept-encoding': 'x-snappy' })
    t.equal(unknown.status, 200, path)
    t.equal(unknown.headers['content-encoding'], undefined, path)
  }
})
