import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startApp } from '../support/app.js'
import { nodeRequest, type NodeResponse } from '../support/node-request.js'
import { rawSocket } from '../support/raw-http.js'
import { recordingUpstream, upstreamEnvironment } from '../support/recording-upstream.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

const MOUNT = '/api/ordersource'
const CALLERS = 12
/** Enough for a received request to be forwarded or to join another. */
const SETTLE_MS = 100

interface PendingRequest {
  request: IncomingMessage
  response: ServerResponse
}

/** Starts the service with a provider that responds when the test releases it. */
async function startProxy(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const upstream = await recordingUpstream(t)
  const pending: PendingRequest[] = []
  upstream.respond = (request, response) => pending.push({ request, response })
  const started = await startApp(t, {
    ADMIN_ACCOUNTS,
    // Longer than any wait in these tests
    ORDERSOURCE_TIMEOUT_MS: '60000',
    RATE_LIMIT_PER_MINUTE: '100000',
    ...upstreamEnvironment(upstream.url, environment),
  })
  const { url, app } = started
  const bearer = { authorization: `Bearer ${await signIn(url)}` }
  let received = 0
  app.server.on('request', () => received++)

  /** Waits until the service has received and processed this many requests since the start. */
  async function waitForReceived(requests: number): Promise<void> {
    if (!(await waitUntil(() => received >= requests))) throw new Error(`${received} received`)
    await sleep(SETTLE_MS)
  }

  /** Waits until this many requests are pending at the provider. */
  async function waitForPending(requests: number): Promise<void> {
    if (!(await waitUntil(() => pending.length >= requests))) throw new Error(`${pending.length}`)
    await sleep(SETTLE_MS)
  }

  const send = (path = '/portfolios', headers: Record<string, string> = {}, method = 'GET') =>
    nodeRequest(`${url}${MOUNT}${path}`, { method, headers })

  /** Responds to all pending requests, each with its number. */
  function respondToAll(headers: Record<string, string | string[]> = {}): void {
    for (const [index, { response }] of pending.splice(0).entries()) {
      respond(response, JSON.stringify({ request: index }), headers)
    }
  }

  return {
    ...started,
    upstream,
    pending,
    bearer,
    send,
    waitForReceived,
    waitForPending,
    respondToAll,
  }
}

function respond(
  response: ServerResponse | undefined,
  body: string,
  headers: Record<string, string | string[]> = {},
): void {
  const head = { 'content-type': 'application/json', 'content-length': String(body.length) }
  response?.writeHead(200, { ...head, ...headers }).end(body)
}

/** Opens a connection that requests the portfolios and can be closed. */
async function openCaller(url: string): Promise<Socket> {
  const socket = await rawSocket(url)
  socket.on('error', () => undefined)
  socket.write(`GET ${MOUNT}/portfolios HTTP/1.1\r\nhost: x\r\n\r\n`)
  return socket
}

const getText = ({ body }: NodeResponse): string => body.toString()

t.test('a thousand requests of guests are a few requests to the provider', async (t) => {
  const { send, upstream, bearer } = await startProxy(t)
  upstream.respond = (_request, response) => respond(response, '[]', { etag: '"a"' })
  const spellings: Parameters<typeof send>[] = [
    ['/portfolios'],
    ['/portfolios', {}, 'HEAD'],
    ['/%70ortfolios'],
    ['/portfolios', { accept: 'text/csv' }],
    ['/portfolios', { 'accept-language': 'de' }],
    ['/portfolios', { 'if-none-match': '"b"' }],
    ['/portfolios', { authorization: 'Bearer nonsense' }],
    ['/portfolios', { cookie: 'clearwake=x' }],
  ]
  const startedAt = performance.now()
  for (let index = 0; index < 1000; index += 10) {
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, i) => send(`/portfolios?x=${index + i}`)),
    )
    for (const response of responses) {
      t.match(response, { status: 200, headers: { etag: '"a"' } })
      t.equal(getText(response), '[]')
    }
  }
  for (const spelling of spellings) t.equal((await send(...spelling)).status, 200)
  const periods = Math.ceil((performance.now() - startedAt) / 5_000)
  t.ok(upstream.requests.length <= periods, `${upstream.requests.length} requests`)
  t.match(upstream.requests[0], { method: 'GET', url: '/v1/portfolios' })

  const before = upstream.requests.length
  t.equal((await send('/portfolios?x=1', bearer)).status, 200)
  t.equal(upstream.requests.length, before + 1, 'requests of users are not shared')
  t.equal(upstream.requests.at(-1)?.url, '/v1/portfolios?x=1')
  await waitUntil(async () => {
    await send()
    return upstream.requests.length > before + 1
  })
  t.equal(upstream.requests.at(-1)?.url, '/v1/portfolios', 'a response is kept for seconds only')
})

t.test('passes on the query parameters that the operator allows', async (t) => {
  const { send, upstream } = await startProxy(t, {
    ORDERSOURCE_PUBLIC_ROUTES: 'GET /portfolios?page&country, GET /other',
  })
  upstream.respond = (request, response) => respond(response, JSON.stringify(request.url))
  for (const [path, forwarded] of [
    ['/portfolios?country=PT&x=1&page=2', '/portfolios?page=2&country=PT'],
    ['/portfolios?country=a%26b&country=%C3%A9', '/portfolios?country=a%26b&country=%C3%A9'],
    ['/portfolios?Page=2', '/portfolios'],
    ['/other?page=2', '/other'],
  ] as const) {
    t.equal(getText(await send(path)), JSON.stringify(`/v1${forwarded}`), path)
  }
})

t.test('guests share a pending request, whoever disconnects', async (t) => {
  const { url, send, upstream, waitForPending, waitForReceived, respondToAll, pending, log } =
    await startProxy(t)
  const first = await openCaller(url)
  await waitForPending(1)
  const sent = Array.from({ length: CALLERS }, (_, index) =>
    send('/portfolios', { 'x-request-id': `caller-${index}` }),
  )
  sent.push(send('/portfolios', { cookie: 'any=1' }))
  await waitForReceived(CALLERS + 2)
  first.destroy()
  await sleep(SETTLE_MS)
  t.notOk(pending[0]?.response.destroyed, 'the upstream request continues')
  respondToAll({ 'cache-control': 'public, max-age=60', etag: '"a"' })
  for (const [index, response] of (await Promise.all(sent)).entries()) {
    t.match(response, { status: 200, headers: { etag: '"a"', 'content-length': '13' } })
    t.equal(getText(response), '{"request":0}')
    const isAnonymous = index < CALLERS
    if (isAnonymous) t.equal(response.headers['x-request-id'], `caller-${index}`)
    const cacheControl = isAnonymous ? 'public, max-age=60' : 'no-store'
    t.equal(response.headers['cache-control'], cacheControl, 'depends on the caller')
  }
  t.equal(upstream.requests.length, 1)
  t.notOk(
    log.some(({ level }) => Number(level) >= 40),
    'no warnings',
  )
})

t.test('shares long responses, responses of unknown length and empty responses', async (t) => {
  const { send, upstream } = await startProxy(t, {
    ORDERSOURCE_PUBLIC_ROUTES: 'GET /long,GET /chunked,GET /empty,GET /huge',
  })
  const long = Buffer.alloc(200_000, 'x')
  const json = { 'content-type': 'application/json' }
  upstream.respond = ({ url = '' }, response) => {
    const length = { 'content-length': long.length }
    if (url === '/v1/empty') response.writeHead(204).end()
    else if (url === '/v1/huge') response.writeHead(200, json).end(Buffer.alloc(3_000_000, 'x'))
    else response.writeHead(200, { ...json, ...(url === '/v1/long' ? length : {}) }).end(long)
  }
  for (const [path, status, length] of [
    ['/long', 200, long.length],
    ['/chunked', 200, long.length],
    ['/empty', 204, 0],
  ] as const) {
    const before = upstream.requests.length
    for (const response of await Promise.all([send(path), send(path), send(path)])) {
      t.same([response.status, response.body.length], [status, length], path)
    }
    t.equal(upstream.requests.length, before + 1)
  }
  t.equal((await send('/huge')).status, 502, 'a response for guests is limited to 2 MB')
})

t.test('reports a failure to every guest, counts it once, and tries again', async (t) => {
  const { url, send, upstream, pending, waitForReceived } = await startProxy(t, {
    ORDERSOURCE_TIMEOUT_MS: '1500',
  })
  const timedOut = Array.from({ length: CALLERS }, () => send())
  for (const response of await Promise.all(timedOut)) t.equal(response.status, 504)
  t.equal(upstream.requests.length, 1)
  pending.splice(0)

  const interrupted = Array.from({ length: CALLERS }, () => send())
  await waitForReceived(2 * CALLERS)
  for (const { response } of pending.splice(0)) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9' })
    response.write('{')
    await sleep(SETTLE_MS)
    response.destroy()
  }
  for (const response of await Promise.all(interrupted)) {
    t.equal(response.status, 502)
    t.match(response.headers['content-type'], /problem/)
  }
  t.equal(upstream.requests.length, 2)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.match(metrics, /_count\{route="portfolios",outcome="timeout"\} 1\n/)
  t.match(metrics, /_count\{route="portfolios",outcome="invalid_response"\} 1\n/)
})

t.test('passes on the status of an error whose body is slow or interrupted', async (t) => {
  const { send, upstream } = await startProxy(t, {
    ORDERSOURCE_PUBLIC_ROUTES: 'GET /slow,GET /interrupted',
  })
  upstream.respond = ({ url }, response) => {
    response.writeHead(503, { 'retry-after': '9', 'content-length': '20' }).write('{')
    if (url === '/v1/interrupted') setTimeout(() => response.destroy(), SETTLE_MS)
  }
  for (const path of ['/slow', '/interrupted']) {
    for (const response of await Promise.all([send(path), send(path)])) {
      t.match(response, { status: 503, headers: { 'retry-after': '9' } })
    }
  }
})
